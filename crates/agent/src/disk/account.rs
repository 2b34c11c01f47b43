// SPDX-License-Identifier: GPL-2.0-only
//! What a disk has done while it counted.

use elevators::{Direction, Id, Request};
use serde::{Deserialize, Serialize};

use super::latency::{Latencies, Latency};

/// A completion later than this after its time counts as late (specs/benchmarks/iosched.md 11.6).
const LATE_NS: u64 = 300_000;

/// What the disk has done.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests as they came, and as the disk served them: merged.
    pub requests: u64,
    pub served: u64,
    pub sectors_read: u64,
    pub sectors_written: u64,
    /// Time with a request under way.
    pub busy_ns: u64,
    /// Time without one, though some waited: the elevator held the disk idle.
    pub held_ns: u64,
    /// Served requests that were completed more than 0.3 ms after their time, and the worst of all.
    pub late: u64,
    pub latest_ns: u64,
    /// From arrival until done, of requests as they came; None if there was none.
    pub read: Option<Latency>,
    pub write: Option<Latency>,
}

/// Counts until it is closed.
pub struct Account {
    counts: Counts,
    /// By direction.
    latencies: [Latencies; 2],
    /// By id: since when it waits, if that is known.
    arrivals: Vec<Option<u64>>,
    held_since: Option<u64>,
    closed: bool,
}

impl Account {
    pub fn new() -> Self {
        let latencies = [Latencies::new(), Latencies::new()];
        let (counts, arrivals) = Default::default();
        Self { counts, latencies, arrivals, held_since: None, closed: false }
    }

    /// From now on nothing is counted.
    pub fn close(&mut self) {
        self.closed = true;
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Also in the middle.
    pub fn counts(&self) -> Counts {
        let [read, write] = [&self.latencies[0], &self.latencies[1]].map(Latencies::summary);
        Counts { read, write, ..self.counts }
    }

    /// `request` waits since `at`; None: not known.
    pub fn arrived(&mut self, request: &Request, at: Option<u64>) {
        if self.closed {
            return;
        }
        self.counts.requests += 1;
        let sectors = match request.direction {
            Direction::Read => &mut self.counts.sectors_read,
            Direction::Write => &mut self.counts.sectors_written,
        };
        *sectors += request.sectors;
        let index = index(request.id);
        if self.arrivals.len() <= index {
            self.arrivals.resize(index + 1, None);
        }
        self.arrivals[index] = at;
    }

    /// The disk is free, requests wait, and the elevator gives none.
    pub fn held(&mut self, now: u64) {
        self.held_since.get_or_insert(now);
    }

    /// The disk has been given a request, which takes `service_ns`.
    pub fn dispatched(&mut self, service_ns: u64, now: u64) {
        let held_ns = self.held_since.take().map_or(0, |since| now - since);
        if !self.closed {
            self.counts.held_ns += held_ns;
            self.counts.served += 1;
            self.counts.busy_ns += service_ns;
        }
    }

    /// These were served as one, and done at `at`; the server hears of it `delay_ns` later.
    pub fn completed(&mut self, parts: &[Request], at: u64, delay_ns: u64) {
        if self.closed {
            return;
        }
        self.counts.late += u64::from(delay_ns > LATE_NS);
        self.counts.latest_ns = self.counts.latest_ns.max(delay_ns);
        for part in parts.iter().filter(|part| !part.is_flush()) {
            if let Some(arrival) = self.arrivals[index(part.id)] {
                self.latencies[part.direction as usize].add(at.saturating_sub(arrival));
            }
        }
    }
}

/// Ids are those of tags, which are few.
fn index(id: Id) -> usize {
    usize::try_from(id).expect("an id is a tag")
}
