// SPDX-License-Identifier: GPL-2.0-only
//! Deadline of blk-mq: three classes; batches start at the oldest request and may have gaps.

use crate::elevator::{Elevator, End};
use crate::request::{Class, Direction, Id, Request};
use crate::sorted_fifo::{Key, SortedFifo};
use parameters::Settings;

const CLASSES: [Class; 3] = [Class::RealTime, Class::BestEffort, Class::Idle];

/// One class of ioprio.
#[derive(Default)]
struct Level {
    /// The waiting requests of each direction.
    requests: [SortedFifo; 2],
    /// The request after the last dispatched one of this class in sort order.
    next: Option<(Direction, Id)>,
    in_flight: usize,
}

impl Level {
    fn queued(&self) -> usize {
        self.requests.iter().map(SortedFifo::len).sum()
    }
}

/// Linux 5.14 and later, block/mq-deadline.c, without zones.
pub struct MqDeadline {
    expire_ns: [u64; 2],
    aging_ns: u64,
    writes_starved: u64,
    fifo_batch: u64,
    front_merges: bool,
    /// The classes, the best first.
    levels: [Level; 3],
    batching: u64,
    starved: u64,
}

impl MqDeadline {
    /// # Panics
    /// If `settings` are not those of deadline.
    pub fn new(settings: &Settings) -> Self {
        Self {
            expire_ns: [settings.ns("read_expire_ms"), settings.ns("write_expire_ms")],
            aging_ns: settings.ns("prio_aging_expire_ms"),
            writes_starved: settings.get("writes_starved"),
            fifo_batch: settings.get("fifo_batch"),
            front_merges: settings.get("front_merges") == 1,
            levels: Default::default(),
            batching: 0,
            starved: 0,
        }
    }

    fn level(&mut self, request: &Request) -> &mut Level {
        &mut self.levels[request.priority.class as usize]
    }

    /// The class whose oldest request of either direction has waited too long behind better
    /// classes.
    fn aged(&self, now: u64) -> Option<Class> {
        if self.levels.iter().filter(|level| level.queued() > 0).count() < 2 {
            return None;
        }
        CLASSES.into_iter().skip(1).find(|class| {
            let requests = &self.levels[*class as usize].requests;
            requests.iter().zip(self.expire_ns).any(|(requests, expire)| {
                requests
                    .head()
                    .is_some_and(|key| requests.get(key).expires - expire + self.aging_ns <= now)
            })
        })
    }

    /// The best class with requests, unless a better one still has some in flight.
    fn class(&self) -> Option<Class> {
        let busy = |level: &Level| level.queued() + level.in_flight > 0;
        let best = CLASSES.into_iter().find(|class| busy(&self.levels[*class as usize]))?;
        (self.levels[best as usize].queued() > 0).then_some(best)
    }

    fn of_class(&mut self, class: Class, now: u64) -> Option<Request> {
        let (direction, key) = match self.of_batch(class) {
            Some(found) => found,
            None => {
                let direction = self.choose_direction(class)?;
                self.batching = 0;
                (direction, self.start(class, direction, now)?)
            }
        };
        self.batching += 1;
        let level = &mut self.levels[class as usize];
        let requests = &mut level.requests[direction as usize];
        level.next = requests.after(key).map(|key| (direction, requests.get(key).request.id));
        level.in_flight += 1;
        Some(requests.take(key).request)
    }

    fn of_batch(&self, class: Class) -> Option<(Direction, Key)> {
        let level = &self.levels[class as usize];
        let (direction, id) = level.next.filter(|_| self.batching < self.fifo_batch)?;
        level.requests[direction as usize].key(id).map(|key| (direction, key))
    }

    fn choose_direction(&mut self, class: Class) -> Option<Direction> {
        let [reads, writes] = &self.levels[class as usize].requests;
        if !reads.is_empty() && (writes.is_empty() || self.starved < self.writes_starved) {
            self.starved += u64::from(!writes.is_empty());
            return Some(Direction::Read);
        }
        self.starved = 0;
        (!writes.is_empty()).then_some(Direction::Write)
    }

    fn start(&self, class: Class, direction: Direction, now: u64) -> Option<Key> {
        let level = &self.levels[class as usize];
        let requests = &level.requests[direction as usize];
        let next =
            level.next.filter(|(of, _)| *of == direction).and_then(|(_, id)| requests.key(id));
        match (requests.expired(now), next) {
            (None, Some(next)) => Some(next),
            _ => requests.head(),
        }
    }
}

impl Elevator for MqDeadline {
    fn add(&mut self, request: Request, now: u64) {
        let expires = now + self.expire_ns[request.direction as usize];
        self.level(&request).requests[request.direction as usize].insert(request, expires);
    }

    fn next(&mut self, now: u64) -> Option<Request> {
        let class = self.aged(now).or_else(|| self.class())?;
        self.of_class(class, now)
    }

    fn drain(&mut self, now: u64) -> Option<Request> {
        let class = CLASSES.into_iter().find(|class| self.levels[*class as usize].queued() > 0)?;
        self.of_class(class, now)
    }

    fn completed(&mut self, request: &Request, _now: u64) {
        self.level(request).in_flight -= 1;
    }

    fn queued(&self) -> usize {
        self.levels.iter().map(Level::queued).sum()
    }

    fn holds(&self, waiting: &Request) -> bool {
        self.levels[waiting.priority.class as usize].requests[waiting.direction as usize]
            .contains(waiting.id)
    }

    fn may_merge(&self, waiting: &Request, new: &Request, end: End) -> bool {
        waiting.priority.class == new.priority.class && (end == End::Back || self.front_merges)
    }

    fn extended(&mut self, old: &Request, grown: &Request) {
        self.level(old).requests[old.direction as usize].extend(old.id, grown);
    }

    fn joined(&mut self, survivor: &Request, gone: &Request) {
        let level = self.level(gone);
        let requests = &mut level.requests[gone.direction as usize];
        if level.next == Some((gone.direction, gone.id)) {
            let after = requests.key(gone.id).and_then(|key| requests.after(key));
            level.next = after.map(|key| (gone.direction, requests.get(key).request.id));
        }
        requests.join(survivor.id, gone.id);
    }
}
