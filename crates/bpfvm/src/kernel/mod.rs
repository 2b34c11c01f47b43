// SPDX-License-Identifier: GPL-2.0-only
//! Kernels described as data: the types, functions and variables that a scheduler can ask for.

mod described;
mod names;
mod options;
pub mod select;
mod source;

pub use described::Kernel;
pub use names::Named;
pub use source::{KERNELS, Source};
