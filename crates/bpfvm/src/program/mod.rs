// SPDX-License-Identifier: GPL-2.0-only
//! An object made ready to run: its instructions with a kernel's answers and the addresses of everything in them.

mod link;
mod linked;
mod place;
mod step;

pub use link::link;
pub use linked::{FUNCTION, Function, KERNEL_FUNCTION, KernelCall, Program};
pub use place::{MapPlace, Part, SectionPlace};
pub use step::Step;
