// SPDX-License-Identifier: GPL-2.0-only
//! Statistics of a process that reads.

use crate::history::{Mean, ONE, Seeks, decayed};
use crate::request::Request;
use crate::time::MS;

/// Longest think time; longer ones count as this.
const MAX_THINK_NS: u64 = 20 * MS;

#[derive(Debug, Default)]
pub struct Process {
    pub queued: usize,
    pub in_flight: usize,
    pub exited: bool,
    /// Nanoseconds from a completed read to the next request.
    pub think: Mean,
    pub seeks: Seeks,
    /// When its last read completed.
    pub last_completion: Option<u64>,
    started: bool,
}

/// Statistics over all processes that have just begun to read.
#[derive(Debug, Default)]
pub struct Newcomers {
    think_total: u64,
    seek_total: u64,
    /// How many of 256 processes never come back.
    pub exit_probability: u64,
}

impl Newcomers {
    pub fn mean_think_ns(&self) -> u64 {
        self.think_total / ONE
    }

    pub fn mean_seek(&self) -> u64 {
        self.seek_total / ONE
    }

    /// Notes that the disk waited in vain for a process that nothing is known about.
    pub fn never_came_back(&mut self) {
        self.exit_probability = decayed(self.exit_probability, 1);
    }
}

impl Process {
    /// Notes that `request` comes from this process and is about to wait.
    pub fn submitted(&mut self, request: &Request, newcomers: &mut Newcomers, now: u64) {
        if request.sync {
            self.learn(request, newcomers, now);
        }
        self.exited = false;
        self.queued += 1;
    }

    fn learn(&mut self, request: &Request, newcomers: &mut Newcomers, now: u64) {
        let new_to_seeks = self.seeks.mean.samples == 0;
        let distance = self.seeks.observe(request.first, request.end());
        if let Some(distance) = distance.filter(|_| new_to_seeks) {
            newcomers.seek_total = decayed(newcomers.seek_total, distance);
        }
        if !self.started {
            self.started = true;
            return;
        }
        let idle = self.queued + self.in_flight == 0;
        let think = match self.last_completion {
            Some(completed) if idle => (now - completed).min(MAX_THINK_NS),
            _ => 0,
        };
        if self.think.samples == 0 {
            newcomers.think_total = decayed(newcomers.think_total, think);
            newcomers.exit_probability = decayed(newcomers.exit_probability, 0);
        }
        self.think.add(think);
    }

    pub fn completed(&mut self, sync: bool, now: u64) {
        self.in_flight -= 1;
        if sync {
            self.last_completion = Some(now);
        }
    }
}
