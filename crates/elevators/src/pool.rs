// SPDX-License-Identifier: GPL-2.0-only
//! The pool of requests of the block layer of 2003.

use crate::request::Direction;

/// Whether a process may take another request from the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayQueue {
    /// Not now, even if some are free.
    No,
    /// Yes if one is free.
    May,
    /// Yes even if none is free.
    Must,
}

/// Linux 2.5.63, drivers/block/ll_rw_blk.c: a fixed number of requests for each direction. A
/// process that gets none sleeps, which the caller has to do.
#[derive(Debug, Clone)]
pub struct Pool {
    /// Requests for each direction.
    pub limit: usize,
    used: [usize; 2],
}

impl Pool {
    pub fn new(limit: usize) -> Self {
        Self { limit, used: [0; 2] }
    }

    /// Requests queued or in flight; a request that was merged into another does not count.
    pub fn used(&self, direction: Direction) -> usize {
        self.used[direction as usize]
    }

    /// Whether a request of `direction` is granted after this answer of the elevator.
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
