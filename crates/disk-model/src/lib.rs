// SPDX-License-Identifier: GPL-2.0-only
//! The model of a rotational disk: a request and a time in, its service time out.
//!
//! A [`Disk`] knows where its head and its platter are, and what is in its buffer. It has no clock
//! and holds no data: time is a number of nanoseconds that the caller passes and that never goes
//! back, and the same calls give the same times. It serves strictly one request at a time.

mod buffer;
mod cache;
pub mod catalogue;
mod geometry;
mod mechanics;
mod model;

pub use catalogue::{DISK, DISKS};
pub use geometry::{Geometry, SECTOR_BYTES};
pub use mechanics::{Mechanics, Motion};
pub use model::{Disk, Service};
