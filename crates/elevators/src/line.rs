// SPDX-License-Identifier: GPL-2.0-only
//! A queue with those in front of it who sleep until its pool grants them a request.

use std::collections::VecDeque;

use crate::{Context, Id, Queue, Request};

/// What a disk talks to that takes every request, and serves one at a time.
pub struct Line {
    queue: Queue,
    /// By direction, in order of arrival.
    asleep: [VecDeque<Request>; 2],
}

impl Line {
    pub fn new(queue: Queue) -> Self {
        Self { queue, asleep: Default::default() }
    }

    /// `request` waits from now on, in the queue or before it.
    pub fn add(&mut self, request: Request, now: u64) {
        let asleep = &mut self.asleep[request.direction as usize];
        // Who comes later does not overtake those who sleep for the same.
        if !asleep.is_empty() && !request.barrier {
            asleep.push_back(request);
        } else if let Err(refused) = self.queue.offer(request, now) {
            asleep.push_back(refused);
        }
    }

    /// What to dispatch now; see [`crate::Elevator::next`].
    pub fn next(&mut self, now: u64) -> Option<Request> {
        // An elevator that refused everybody has nothing in flight whose completion would wake somebody.
        if self.queue.queued() == 0 {
            let first = self.asleep.iter_mut().find_map(VecDeque::pop_front);
            first.into_iter().for_each(|request| self.queue.add(request, now));
        }
        self.queue.next(now)
    }

    /// What `id`, which `next` gave, was made of; whoever sleeps is woken if there is room.
    ///
    /// # Panics
    /// If nothing of that id is in flight.
    pub fn completed(&mut self, id: Id, now: u64) -> Vec<Request> {
        let parts = self.queue.completed(id, now);
        for asleep in &mut self.asleep {
            while let Some(request) = asleep.pop_front() {
                if let Err(refused) = self.queue.offer(request, now) {
                    asleep.push_front(refused);
                    break;
                }
            }
        }
        parts
    }

    /// When `next` has to be asked again even if nothing happens until then.
    pub fn next_timer(&self) -> Option<u64> {
        self.queue.next_timer()
    }

    /// No more requests will come from `context`.
    pub fn process_exited(&mut self, context: Context, now: u64) {
        self.queue.process_exited(context, now);
    }

    /// How many wait, in the queue and before it; merged ones count as one.
    pub fn waiting(&self) -> usize {
        self.queue.queued() + self.asleep.iter().map(VecDeque::len).sum::<usize>()
    }
}
