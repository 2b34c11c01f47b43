// SPDX-License-Identifier: GPL-2.0-only
//! Compiled BPF objects in user space: what they hold, and what they ask of a kernel that is described as data. Nothing
//! here needs root, a kernel or a compiler.

mod error;
pub mod instruction;
pub mod kernel;
pub mod loading;
pub mod object;
pub mod outline;
pub mod reach;
pub mod relate;
pub mod semantics;
pub mod survey;

pub use error::ObjectError;
pub use object::Object;
