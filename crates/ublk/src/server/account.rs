// SPDX-License-Identifier: GPL-2.0-only
//! Counts what a disk does.

use elevators::{Context, Direction, Request};
use serde::{Deserialize, Serialize};

use crate::identity::Origin;
use crate::log::request_lines::Served;
use crate::log::request_log::{self, RequestLog, index};
use block_queue::latency::{Latencies, Latency};

/// A completion later than this after its time counts as late.
const LATE_NS: u64 = 300_000;

/// The counts of a disk.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests as they arrived.
    pub requests: u64,
    /// Requests as the disk served them: merged.
    pub served: u64,
    pub sectors_read: u64,
    pub sectors_written: u64,
    /// Time with a request under way.
    pub busy_ns: u64,
    /// Time without one although some waited: the elevator held the disk idle.
    pub held_ns: u64,
    /// Served requests that were completed more than 0.3 ms after their time.
    pub late: u64,
    /// The longest such delay of all.
    pub latest_ns: u64,
    /// How long reads took from their arrival until they were done; None if there was none.
    pub read: Option<Latency>,
    /// How long writes took; None without any.
    pub write: Option<Latency>,
    /// Requests that the log had no room for; None without a log.
    pub dropped: Option<u64>,
}

/// The arrival of a request.
#[derive(Debug, Default, Clone, Copy)]
pub struct Arrival {
    /// When its process began to wait; None if that is not known.
    pub asked: Option<u64>,
    pub origin: Origin,
}

/// Counts until it is closed.
pub struct Account {
    counts: Counts,
    /// Latencies of each direction.
    latencies: [Latencies; 2],
    /// When each request began to wait, if that is known; the index is its id.
    arrivals: Vec<Option<u64>>,
    held_since: Option<u64>,
    log: Option<RequestLog>,
    closed: bool,
}

impl Account {
    /// Makes an empty account; `with_log` keeps a log of each request.
    pub fn new(with_log: bool) -> Self {
        let (counts, latencies, arrivals) = Default::default();
        let log = with_log.then(|| RequestLog::new(request_log::MOST));
        Self { counts, latencies, arrivals, held_since: None, log, closed: false }
    }

    /// Ends the counting: later requests are not counted.
    pub fn close(&mut self) {
        self.closed = true;
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        let [read, write] = [&self.latencies[0], &self.latencies[1]].map(Latencies::summary);
        let dropped = self.log.as_ref().map(RequestLog::dropped);
        Counts { read, write, dropped, ..self.counts }
    }

    #[cfg(test)]
    pub fn log(&self) -> Option<&RequestLog> {
        self.log.as_ref()
    }

    pub fn into_log(self) -> Option<RequestLog> {
        self.log
    }

    pub fn arrived(&mut self, request: &Request, arrival: &Arrival, now: u64) {
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
        self.arrivals[index] = arrival.asked;
        if let Some(log) = &mut self.log {
            log.arrived(request, &arrival.origin, arrival.asked.unwrap_or(now));
        }
    }

    /// Notes that no more requests will come from `context`.
    pub fn exited(&mut self, context: Context, now: u64) {
        if let Some(log) = self.open_log() {
            log.exited(context, now);
        }
    }

    /// Notes that the disk is free and the elevator had no request when asked; it wants to be asked
    /// again at `timer`.
    pub fn asked(&mut self, now: u64, timer: Option<u64>) {
        if let Some(log) = self.open_log() {
            log.asked(now, timer);
        }
    }

    /// Notes that the disk is free and requests wait, but the elevator returns none.
    pub fn held(&mut self, now: u64) {
        self.held_since.get_or_insert(now);
    }

    /// Notes that the disk got a request.
    pub fn dispatched(&mut self, served: Served) {
        let now = served.dispatched_ns;
        let held_since = self.held_since.take();
        if self.closed {
            return;
        }
        self.counts.held_ns += held_since.map_or(0, |since| now - since);
        self.counts.served += 1;
        self.counts.busy_ns += served.done_ns - now;
        let Some(log) = &mut self.log else { return };
        if let Some(since) = held_since {
            log.held(since, now);
        }
        log.dispatched(served);
    }

    /// Notes that `parts` were served as one and done at `at`; the server noticed `delay_ns` later.
    pub fn completed(&mut self, parts: &[Request], at: u64, delay_ns: u64) {
        if self.closed {
            return;
        }
        self.counts.late += u64::from(delay_ns > LATE_NS);
        self.counts.latest_ns = self.counts.latest_ns.max(delay_ns);
        if let Some(log) = &mut self.log {
            log.completed(parts);
        }
        for part in parts.iter().filter(|part| !part.is_flush()) {
            if let Some(arrival) = self.arrivals[index(part.id)] {
                self.latencies[part.direction as usize].add(at.saturating_sub(arrival));
            }
        }
    }

    /// The log, until the account is closed.
    fn open_log(&mut self) -> Option<&mut RequestLog> {
        self.log.as_mut().filter(|_| !self.closed)
    }
}
