// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's queue of any disk: the kernel's own elevators, which one is in charge and how it is
//! set, whether that stays so while a sample runs, and the metrics of a disk.

mod error;
pub mod kernel;
pub mod kernel_queue;
pub mod latency;
pub mod metrics;
pub mod queue_watch;

pub use error::QueueError;
