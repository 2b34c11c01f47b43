// SPDX-License-Identifier: GPL-2.0-only
//! Runs any events through any elevator, and checks what has to hold.

use std::collections::HashSet;

use elevators::{Id, LATEST_NS, Queue, Request, Settings, WaitQueue};

#[derive(Debug, Clone)]
pub enum Event {
    /// A request comes; its id is given in order of arrival.
    Arrives(Request),
    Exits(u64),
    /// This many nanoseconds pass.
    Passes(u64),
    /// The disk takes a request, if it has room for one and there is one.
    Asks,
    /// The oldest request on the disk is done.
    Completes,
}

/// An elevator on a disk that has up to `depth` requests at a time.
struct Course {
    queue: WaitQueue,
    depth: usize,
    now: u64,
    arrived: u64,
    /// Ids on the disk, oldest first.
    in_flight: Vec<Id>,
    completed: HashSet<Id>,
}

/// Panics unless each request that arrives in `events` is dispatched once, and the disk is never
/// idle without a reason.
pub fn run(settings: &Settings, depth: usize, events: impl IntoIterator<Item = Event>) {
    let mut course = Course {
        queue: WaitQueue::new(Queue::new(settings)),
        depth,
        now: 0,
        arrived: 0,
        in_flight: Vec::new(),
        completed: HashSet::new(),
    };
    events.into_iter().for_each(|event| course.step(event));
    course.finish();
}

impl Course {
    fn step(&mut self, event: Event) {
        match event {
            Event::Arrives(request) => {
                self.queue.add(Request { id: self.arrived, ..request }, self.now);
                self.arrived += 1;
            }
            Event::Exits(context) => self.queue.process_exited(context, self.now),
            // The other half of the time is for the end.
            Event::Passes(ns) => self.now = (self.now + ns).min(LATEST_NS / 2),
            Event::Asks => {
                self.ask();
            }
            Event::Completes => {
                self.complete();
            }
        }
    }

    fn ask(&mut self) -> bool {
        if self.in_flight.len() >= self.depth {
            return false;
        }
        let next = self.queue.next(self.now);
        self.in_flight.extend(next.map(|request| request.id));
        next.is_some()
    }

    fn complete(&mut self) -> bool {
        if self.in_flight.is_empty() {
            return false;
        }
        let parts = self.queue.completed(self.in_flight.remove(0), self.now);
        assert!(parts.is_sorted_by_key(|part| part.first), "parts are in order of sectors");
        for part in parts {
            assert!(self.completed.insert(part.id), "{} came out twice", part.id);
        }
        true
    }

    fn finish(&mut self) {
        while self.queue.waiting() > 0 || !self.in_flight.is_empty() {
            if self.ask() || self.complete() {
                continue;
            }
            let timer = self.queue.next_timer().expect("what waits does so for a time");
            assert!(timer > self.now, "it is due and gives nothing");
            self.now = timer;
        }
        assert_eq!(self.completed.len() as u64, self.arrived, "some never came out");
    }
}
