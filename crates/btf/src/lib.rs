// SPDX-License-Identifier: GPL-2.0-only
//! The BPF type format: the types that a kernel or a compiled object describes
//! (Documentation/bpf/btf.rst of the kernel), and what comes with an object beside them.
//!
//! Every number in the input may be wrong. What is read refers to types and names that exist, so
//! that nothing needs to be checked again; a chain of types may still be a circle, and every walk
//! here ends.

mod bytes;
mod error;
mod extension;
mod reader;
mod types;
mod walk;
mod writer;

pub use error::BtfError;
pub use extension::{CoreKind, CoreRelocation, Extension, FunctionInfo, LineInfo, Place};
pub use types::{Btf, Enumerator, Kind, Linkage, Member, Parameter, Type, TypeId, Variable};
