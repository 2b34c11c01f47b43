// SPDX-License-Identifier: GPL-2.0-only
//! The requests that the block layer of 2003 had to give away.

use crate::request::Direction;

/// Whether a process may have another request of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayQueue {
    /// Not now, even if some are free.
    No,
    /// If one is free.
    May,
    /// Even if none is free.
    Must,
}

/// Linux 2.5.63, drivers/block/ll_rw_blk.c: a fixed number of requests for each direction. Who gets none sleeps;
/// that is the caller's business.
#[derive(Debug, Clone)]
pub struct Pool {
    /// Requests that each direction has.
    pub limit: usize,
    used: [usize; 2],
}

impl Pool {
    pub fn new(limit: usize) -> Self {
        Self { limit, used: [0; 2] }
    }

    /// Requests queued or in flight; what was merged into another does not count.
    pub fn used(&self, direction: Direction) -> usize {
        self.used[direction as usize]
    }

    /// What the answer of an elevator means for the next request of `direction`.
    pub fn grants(&self, direction: Direction, answer: MayQueue) -> bool {
        match answer {
            MayQueue::No => false,
            MayQueue::May => self.used(direction) < self.limit,
            MayQueue::Must => true,
        }
    }

    pub(crate) fn take(&mut self, direction: Direction) {
        self.used[direction as usize] += 1;
    }

    pub(crate) fn give_back(&mut self, direction: Direction) {
        self.used[direction as usize] -= 1;
    }
}
