// SPDX-License-Identifier: GPL-2.0-only
//! Runs programs: the memory that they see, what they call of the kernel, and how much they have done.

mod call;
#[cfg(feature = "jit")]
mod compiled;
mod fault;
mod interpreter;
mod maps;
mod own;
mod state;
mod timers;

pub use call::Outcome;
pub use fault::{Fault, Problem};
pub use state::{Arguments, BeginError, KernelFunction, LIMIT, Machine, World};
