// SPDX-License-Identifier: GPL-2.0-only
//! First come, first served.

use crate::elevator::{Elevator, End};
use crate::request::Request;
use crate::sorted_fifo::SortedFifo;

/// Linux 2.5.63, drivers/block/elevator.c: a list; merging joins a request to the end of another.
#[derive(Debug, Default)]
pub struct Noop {
    waiting: SortedFifo,
}

impl Elevator for Noop {
    fn add(&mut self, request: Request, now: u64) {
        self.waiting.insert(request, now);
    }

    fn next(&mut self, _now: u64) -> Option<Request> {
        let key = self.waiting.head()?;
        Some(self.waiting.take(key).request)
    }

    fn completed(&mut self, _request: &Request, _now: u64) {}

    fn queued(&self) -> usize {
        self.waiting.len()
    }

    fn holds(&self, waiting: &Request) -> bool {
        self.waiting.contains(waiting.id)
    }

    fn may_merge(&self, _waiting: &Request, _new: &Request, end: End) -> bool {
        end == End::Back
    }

    fn extended(&mut self, old: &Request, grown: &Request) {
        self.waiting.extend(old.id, grown);
    }

    fn joined(&mut self, survivor: &Request, gone: &Request) {
        self.waiting.join(survivor.id, gone.id);
    }
}
