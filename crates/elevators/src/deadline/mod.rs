// SPDX-License-Identifier: GPL-2.0-only
//! Deadline: batches in sort order, reads first, expiry checked between batches.

pub mod mq;

use std::collections::VecDeque;

use crate::elevator::{Elevator, End};
use crate::request::{Direction, Id, Request};
use crate::sorted_fifo::{Key, SortedFifo};
use parameters::Settings;

#[derive(Debug, Clone)]
struct Rules {
    /// Expiry of each direction, in nanoseconds.
    expire_ns: [u64; 2],
    writes_starved: u64,
    fifo_batch: u64,
    front_merges: bool,
    /// A request that does not begin where the last one ended ends the batch.
    gap_ends_batch: bool,
}

/// Linux 2.6.12, drivers/block/deadline-iosched.c.
pub struct Deadline {
    rules: Rules,
    /// The waiting requests of each direction.
    requests: [SortedFifo; 2],
    /// The request after the last dispatched one in sort order.
    next: Option<(Direction, Id)>,
    last_end: u64,
    batching: u64,
    starved: u64,
    /// Requests whose place is settled, because another one begins at the same sector.
    settled: VecDeque<Request>,
}

impl Deadline {
    /// # Panics
    /// If `settings` are not those of deadline.
    pub fn new(settings: &Settings) -> Self {
        let rules = Rules {
            expire_ns: [settings.ns("read_expire_ms"), settings.ns("write_expire_ms")],
            writes_starved: settings.get("writes_starved"),
            fifo_batch: settings.get("fifo_batch"),
            front_merges: settings.get("front_merges") == 1,
            gap_ends_batch: settings.choice("variant") == "2.5.63-mm2",
        };
        let (requests, settled) = Default::default();
        Self { rules, requests, next: None, last_end: 0, batching: 0, starved: 0, settled }
    }

    fn requests(&mut self, direction: Direction) -> &mut SortedFifo {
        &mut self.requests[direction as usize]
    }

    /// Takes `key` out and continues from there.
    fn take(&mut self, direction: Direction, key: Key) -> Request {
        let requests = self.requests(direction);
        let following = requests.after(key).map(|key| requests.get(key).request.id);
        let request = requests.take(key).request;
        self.next = following.map(|id| (direction, id));
        self.last_end = request.end();
        request
    }

    /// Makes room for a request that is about to begin at `sector`.
    fn settle(&mut self, direction: Direction, sector: u64) {
        if let Some(older) = self.requests(direction).at(sector) {
            let request = self.take(direction, older);
            self.settled.push_back(request);
        }
    }

    /// The next request of the running batch.
    fn of_batch(&mut self) -> Option<(Direction, Key)> {
        let (direction, id) = self.next?;
        let key = self.requests(direction).key(id).expect("the next request waits");
        if self.rules.gap_ends_batch && key.sector != self.last_end {
            self.batching += self.rules.fifo_batch;
        }
        (self.batching < self.rules.fifo_batch).then_some((direction, key))
    }

    fn choose_direction(&mut self) -> Option<Direction> {
        let [reads, writes] = [0, 1].map(|direction| !self.requests[direction].is_empty());
        if reads && !writes {
            return Some(Direction::Read);
        }
        if reads && self.starved < self.rules.writes_starved {
            self.starved += 1;
            return Some(Direction::Read);
        }
        self.starved = 0;
        writes.then_some(Direction::Write)
    }

    /// Starts a new batch, or goes on with the next request if none of `direction` has expired.
    fn of_direction(&mut self, direction: Direction, now: u64) -> Option<Key> {
        let next = self.next.filter(|(of, _)| *of == direction);
        let requests = self.requests(direction);
        let expired = requests.expired(now);
        if let (None, Some((_, id))) = (expired, next) {
            return requests.key(id);
        }
        let first = expired.or(requests.lowest());
        self.batching = 0;
        first
    }
}

impl Elevator for Deadline {
    fn add(&mut self, request: Request, now: u64) {
        let direction = request.direction;
        let expires = now + self.rules.expire_ns[direction as usize];
        self.settle(direction, request.first);
        self.requests(direction).insert(request, expires);
    }

    fn next(&mut self, now: u64) -> Option<Request> {
        if let Some(request) = self.settled.pop_front() {
            return Some(request);
        }
        let (direction, key) = match self.of_batch() {
            Some(found) => found,
            None => {
                let direction = self.choose_direction()?;
                (direction, self.of_direction(direction, now)?)
            }
        };
        self.batching += 1;
        Some(self.take(direction, key))
    }

    fn completed(&mut self, _request: &Request, _now: u64) {}

    fn queued(&self) -> usize {
        self.settled.len() + self.requests.iter().map(SortedFifo::len).sum::<usize>()
    }

    fn holds(&self, waiting: &Request) -> bool {
        self.requests[waiting.direction as usize].contains(waiting.id)
    }

    fn may_merge(&self, _waiting: &Request, _new: &Request, end: End) -> bool {
        end == End::Back || self.rules.front_merges
    }

    fn extended(&mut self, old: &Request, grown: &Request) {
        if grown.first != old.first {
            self.settle(old.direction, grown.first);
        }
        self.requests(old.direction).extend(old.id, grown);
    }

    fn joined(&mut self, survivor: &Request, gone: &Request) {
        let requests = &mut self.requests[gone.direction as usize];
        if self.next == Some((gone.direction, gone.id)) {
            let after = requests.key(gone.id).and_then(|key| requests.after(key));
            self.next = after.map(|key| (gone.direction, requests.get(key).request.id));
        }
        requests.join(survivor.id, gone.id);
    }
}
