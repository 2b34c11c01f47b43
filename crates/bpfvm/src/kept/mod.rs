// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel keeps for a program outside its memory: what it has allocated, what is in its lists and trees, its
//! timers, what it has printed.

mod allocated;
mod arena;
mod members;
mod printed;
mod timers;

pub use allocated::{Allocated, Kind, Release};
pub use arena::Arena;
pub use members::Members;
pub use printed::Printed;
pub use timers::{Due, TimerError, Timers};
