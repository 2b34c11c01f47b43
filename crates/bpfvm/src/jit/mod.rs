// SPDX-License-Identifier: GPL-2.0-only
//! Makes instructions of the host from a program, for speed. What they do is what the interpreter does.

mod arithmetic;
mod compiled;
mod entry;
mod function;
mod memory;

pub use compiled::{CompileError, Compiled};
pub use entry::{enter, know_faults};
