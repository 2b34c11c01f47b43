// SPDX-License-Identifier: GPL-2.0-only
//! One queue of time-sliced CFQ, and the statistics of its process.

use crate::history::{Mean, Seeks};
use crate::request::{Class, Context, Priority, Request};
use crate::sorted_fifo::SortedFifo;

/// The owner of a queue: a process for its requests that it waits for, a priority for all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    Sync(Context),
    Async(Priority),
}

impl Owner {
    pub fn of(request: &Request) -> Self {
        match request.sync {
            true => Self::Sync(request.context),
            false => Self::Async(request.priority),
        }
    }

    pub fn is_sync(self) -> bool {
        matches!(self, Self::Sync(_))
    }
}

/// A mean distance beyond this many sectors makes a process seeky (CIC_SEEKY).
const SEEKY_SECTORS: u64 = 8 * 1024;
/// With fewer samples, of 256, a mean is ignored (sample_valid).
const ENOUGH_SAMPLES: u64 = 80;

#[derive(Debug)]
pub struct Slice {
    /// Set at the first completion, so that the seek to the process is not its own.
    pub end: Option<u64>,
    pub dispatched: u64,
    /// Whether the oldest request has been checked for its expiry.
    pub checked_fifo: bool,
}

#[derive(Debug)]
pub struct ProcessQueue {
    pub owner: Owner,
    pub priority: Priority,
    pub requests: SortedFifo,
    pub in_flight: usize,
    /// Time that the last slice had left (positive) or took too much, in nanoseconds.
    pub rest_ns: i64,
    pub exited: bool,
    think: Mean,
    seeks: Seeks,
    last_completion: Option<u64>,
}

impl ProcessQueue {
    pub fn new(owner: Owner, priority: Priority) -> Self {
        let (requests, think, seeks) = Default::default();
        Self {
            owner,
            priority,
            requests,
            in_flight: 0,
            rest_ns: 0,
            exited: false,
            think,
            seeks,
            last_completion: None,
        }
    }

    pub fn submitted(&mut self, request: &Request, slice_idle_ns: u64, now: u64) {
        self.exited = false;
        self.priority = request.priority;
        if !self.owner.is_sync() {
            return;
        }
        if let Some(completed) = self.last_completion {
            self.think.add((now - completed).min(2 * slice_idle_ns));
        }
        self.seeks.observe(request.first, request.end());
    }

    pub fn completed(&mut self, now: u64) {
        self.in_flight -= 1;
        self.last_completion = Some(now);
    }

    pub fn is_seeky(&self) -> bool {
        self.seeks.mean.samples > ENOUGH_SAMPLES && self.seeks.mean.value > SEEKY_SECTORS
    }

    /// Whether to hold the disk idle for the process's next request.
    pub fn is_worth_waiting(&self, slice_idle_ns: u64) -> bool {
        let thinks_too_long =
            self.think.samples > ENOUGH_SAMPLES && self.think.value > slice_idle_ns;
        slice_idle_ns > 0
            && self.owner.is_sync()
            && self.priority.class != Class::Idle
            && !self.exited
            && !self.is_seeky()
            && !thinks_too_long
    }

    /// Whether a request at this distance is as good as one of its own (cfq_rq_close).
    pub fn is_close(distance: u64) -> bool {
        distance <= SEEKY_SECTORS
    }
}
