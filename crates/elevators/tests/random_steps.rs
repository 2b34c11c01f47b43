// SPDX-License-Identifier: GPL-2.0-only
//! A million random steps for every elevator: no request is lost, doubled, or passes a barrier, and
//! none waits longer than the elevator's rules allow.

mod common;

use std::collections::{BTreeMap, HashMap};

use common::{Random, ms, settings};
use elevators::catalogue::VARIANTS;
use elevators::{Queue, Request};

const STEPS: usize = 1_000_000;
const PROCESSES: u64 = 8;
const MOST_SERVICE_MS: u64 = 8;

/// A request that was added and has not completed.
struct Added {
    epoch: u64,
    at: u64,
    context: u64,
}

struct World {
    queue: Queue,
    random: Random,
    now: u64,
    last_id: u64,
    /// Grows with every barrier, and once more after it.
    epoch: u64,
    waiting: HashMap<u64, Added>,
    dispatched: BTreeMap<u64, Added>,
    last_epoch: u64,
    busy_until: Option<(u64, u64)>,
    longest_wait_ns: u64,
    /// For each process: how many requests wait, and since when none was dispatched.
    starving: HashMap<u64, (usize, u64)>,
    longest_starved_ns: u64,
    refused: u64,
    merged: u64,
}

impl World {
    fn new(queue: Queue, seed: u64) -> Self {
        Self {
            queue,
            random: Random::new(seed),
            now: 0,
            last_id: 0,
            epoch: 0,
            waiting: HashMap::new(),
            dispatched: BTreeMap::new(),
            last_epoch: 0,
            busy_until: None,
            longest_wait_ns: 0,
            starving: HashMap::new(),
            longest_starved_ns: 0,
            refused: 0,
            merged: 0,
        }
    }

    fn request(&mut self) -> Request {
        self.last_id += 1;
        let context = self.random.below(PROCESSES);
        if self.random.below(5000) == 0 {
            return Request::flush(self.last_id, context);
        }
        let first = self.random.below(4000) * 16;
        let sectors = 8 * (1 + self.random.below(8));
        let make = if self.random.below(3) == 0 { Request::write } else { Request::read };
        let request = make(self.last_id, context, first, sectors);
        Request { sync: request.sync || self.random.below(4) == 0, ..request }
    }

    fn offer(&mut self) {
        let request = self.request();
        let before = self.queue.queued();
        if self.queue.offer(request, self.now).is_err() {
            self.refused += 1;
            return;
        }
        self.merged += u64::from(self.queue.queued() <= before);
        self.epoch += u64::from(request.barrier);
        let added = Added { epoch: self.epoch, at: self.now, context: request.context };
        self.epoch += u64::from(request.barrier);
        self.waiting.insert(request.id, added);
        let starving = self.starving.entry(request.context).or_insert((0, self.now));
        if starving.0 == 0 {
            starving.1 = self.now;
        }
        starving.0 += 1;
    }

    /// The disk takes the next request if it has none.
    fn dispatch(&mut self) {
        if self.busy_until.is_some() {
            return;
        }
        if let Some(request) = self.queue.next(self.now) {
            self.busy_until =
                Some((self.now + ms(1 + self.random.below(MOST_SERVICE_MS)), request.id));
        }
    }

    fn complete(&mut self, id: u64) {
        let parts = self.queue.completed(id, self.now);
        let end = parts[0].first + parts.iter().map(|part| part.sectors).sum::<u64>();
        let touching = parts.windows(2).all(|pair| pair[0].end() == pair[1].first);
        assert!(touching && parts.last().unwrap().end() == end, "parts lie one behind the other");
        assert!(end - parts[0].first <= 256 || parts.len() == 1, "larger than a request may be");
        for part in parts {
            let added = self.waiting.remove(&part.id).expect("it was added and has not completed");
            assert!(added.epoch >= self.last_epoch, "{} passed a barrier", part.id);
            self.last_epoch = added.epoch;
            self.longest_wait_ns = self.longest_wait_ns.max(self.now - added.at);
            let starving = self.starving.get_mut(&added.context).unwrap();
            self.longest_starved_ns = self.longest_starved_ns.max(self.now - starving.1);
            *starving = (starving.0 - 1, self.now);
            assert!(
                self.dispatched.insert(part.id, added).is_none(),
                "{} completed twice",
                part.id
            );
        }
    }

    fn step(&mut self) {
        match self.random.below(8) {
            0..5 => self.offer(),
            5 => self.queue.process_exited(self.random.below(PROCESSES), self.now),
            _ => self.pass_time(),
        }
        self.dispatch();
    }

    /// Advances to the next event: a completion or a timer; else by 1 ms.
    fn pass_time(&mut self) {
        match self.busy_until {
            Some((at, id)) => {
                self.busy_until = None;
                self.now = at;
                self.complete(id);
            }
            None => {
                let timer = self.queue.next_timer();
                assert!(self.queue.queued() == 0 || timer.is_some(), "requests wait for nothing");
                self.now = timer.unwrap_or(self.now + ms(1)).max(self.now);
            }
        }
    }

    fn finish(&mut self) {
        while self.queue.queued() > 0 || self.busy_until.is_some() {
            self.pass_time();
            self.dispatch();
        }
        assert!(self.waiting.is_empty(), "lost: {:?}", self.waiting.keys());
        assert_eq!(self.queue.pool().used(elevators::Direction::Read), 0);
        assert_eq!(self.queue.pool().used(elevators::Direction::Write), 0);
    }
}

/// The longest that a request, and that a process with requests, may have to wait, in ms; None where the
/// rules give no bound.
fn bounds(name: &str, pairs: &[&str]) -> (Option<u64>, Option<u64>) {
    // A full pool, as a barrier empties it.
    let drain = 257 * MOST_SERVICE_MS;
    match (name, pairs) {
        ("noop", _) => (Some(drain), Some(drain)),
        // Until it expires, and then a pool of older ones, each with two batches of reads before it.
        ("deadline", _) => (Some(5000 + 4 * drain), None),
        // A sweep over the disk serves two pools: the requests that wait when it begins, and the
        // half of those that come meanwhile that is ahead of it. Asynchronous writes have 125 ms of
        // every 625 ms plus two changes of the class, which wait for requests in flight; a barrier
        // may be before them.
        ("anticipatory", _) => {
            let (batch, turn) = (125, 125 + 500 + 2 * MOST_SERVICE_MS);
            (Some(drain + 2 * 128 * MOST_SERVICE_MS * turn / batch), None)
        }
        // The list under way, and then a round of all.
        ("cfq", ["variant=2003"]) => (None, Some(drain + 2 * (PROCESSES + 4) * MOST_SERVICE_MS)),
        // The slices of all others, each with a request too much, and that of the writes.
        ("cfq", ["variant=sliced"]) => {
            (None, Some(drain + (PROCESSES + 1) * (100 + 2 * MOST_SERVICE_MS)))
        }
        _ => (None, None),
    }
}

#[test]
fn a_million_random_steps() {
    for (name, pairs) in VARIANTS {
        let mut world = World::new(Queue::new(&settings(name, pairs)), 7);
        (0..STEPS).for_each(|_| world.step());
        world.finish();
        assert!(world.merged > 1000 && world.refused > 1000, "nothing was merged or refused");
        let (request_ms, process_ms) = bounds(name, pairs);
        let [wait_ms, starved_ms] =
            [world.longest_wait_ns, world.longest_starved_ns].map(|ns| ns / ms(1));
        assert!(
            request_ms.is_none_or(|bound| wait_ms <= bound),
            "{name} {pairs:?}: a request waited {wait_ms} ms"
        );
        assert!(
            process_ms.is_none_or(|bound| starved_ms <= bound),
            "{name} {pairs:?}: a process waited {starved_ms} ms"
        );
    }
}
