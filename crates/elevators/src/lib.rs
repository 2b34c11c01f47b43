// SPDX-License-Identifier: GPL-2.0-only
//! The I/O schedulers of Linux as pure state machines.
//!
//! An [`Elevator`] is told of requests, completions and exits, and says what to dispatch now and
//! when to ask again. It has no clock, no thread and no I/O: time is a number of nanoseconds that
//! the caller hands in and that never goes back; where its zero is means nothing. The same calls give the same answers.
//!
//! [`Queue`] is what a disk talks to: it puts merging, barriers and the request pool around any
//! elevator, and [`Line`] those who sleep because the pool is empty. [`catalogue::build`] makes one from [`Settings`].

pub mod anticipatory;
pub mod catalogue;
pub mod cfq;
pub mod deadline;
mod elevator;
mod history;
mod lane;
mod line;
mod merge;
mod noop;
pub mod parameters;
mod pool;
mod queue;
pub mod replay;
mod request;

pub use elevator::{Elevator, End, MayQueue};
pub use line::Line;
pub use noop::Noop;
pub use parameters::Settings;
pub use pool::Pool;
pub use queue::Queue;
pub use request::{Class, Context, Direction, Id, Priority, Request};

/// Nanoseconds in a millisecond.
pub const MS: u64 = 1_000_000;
