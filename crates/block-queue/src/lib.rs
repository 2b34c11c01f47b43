// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's queue of a disk, whichever disk it is: the kernel's own elevators, which of them is in charge and how it
//! is set, whether that stays so while a sample runs, and what a disk has done.

mod error;
pub mod kernel;
pub mod kernel_queue;
pub mod latency;
pub mod metrics;
pub mod queue_watch;

pub use error::QueueError;
