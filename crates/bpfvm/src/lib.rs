// SPDX-License-Identifier: GPL-2.0-only
//! Compiled BPF objects in user space: what they hold, what they ask of a kernel that is described as data, and what they
//! do when they run. Nothing here needs root, a kernel or a compiler.

pub mod decoded;
mod errno;
mod error;
pub mod fit;
pub mod format;
pub mod functions;
pub mod helpers;
pub mod instruction;
#[cfg(feature = "jit")]
pub mod jit;
pub mod kept;
pub mod kernel;
pub mod loading;
pub mod machine;
pub mod maps;
pub mod memory;
pub mod object;
pub mod outline;
pub mod program;
pub mod reach;
pub mod relate;
pub mod semantics;
mod shared;
pub mod survey;

pub use error::ObjectError;
pub use object::Object;
