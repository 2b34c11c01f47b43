// SPDX-License-Identifier: GPL-2.0-only
//! The I/O schedulers of Linux as pure state machines.
//!
//! An [`Elevator`] gets requests, completions and exits, and returns what to dispatch now and when
//! to ask again. It has no clock, no thread and no I/O: time is a number of nanoseconds that the
//! caller passes and that never goes back; its zero has no meaning. The same calls give the same
//! answers.
//!
//! [`Queue`] is the interface for a disk: it puts merging, barriers and the request pool around any
//! elevator. [`WaitQueue`] adds the processes that sleep because the pool is empty.
//! [`catalogue::build`] makes one from [`Settings`].

pub mod anticipatory;
pub mod catalogue;
pub mod cfq;
pub mod deadline;
mod elevator;
mod history;
mod merge;
mod noop;
mod pool;
mod portion;
mod queue;
pub mod replay;
mod request;
mod sorted_fifo;
mod time;
mod wait_queue;

pub use elevator::{Elevator, End};
pub use noop::Noop;
/// How elevators describe their parameters.
pub use parameters;
pub use parameters::Settings;
pub use pool::{MayQueue, Pool};
pub use portion::portion;
pub use queue::Queue;
pub use request::{Class, Context, Direction, Id, MOST_SECTORS, Priority, Request};
pub use time::{LATEST_NS, MS};
pub use wait_queue::WaitQueue;
