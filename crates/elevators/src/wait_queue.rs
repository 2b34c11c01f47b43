// SPDX-License-Identifier: GPL-2.0-only
//! A queue, and the processes that sleep before it until its pool grants them a request (the wait queue of
//! ll_rw_blk.c).

use std::collections::VecDeque;

use crate::queue::Queue;
use crate::request::{Context, Id, Request};

/// What a disk talks to that takes every request, and serves one at a time.
pub struct WaitQueue {
    queue: Queue,
    /// Sleepers for each direction, in the order in which they fell asleep.
    asleep: [VecDeque<Sleeper>; 2],
}

/// A process sleeps in its first request that is not granted, so what it asks for later waits behind that
/// (Linux 2.5.63, drivers/block/ll_rw_blk.c, `get_request_wait`), and nobody else does.
struct Sleeper {
    context: Context,
    /// Requests not granted yet, in order of arrival; never empty.
    requests: VecDeque<Request>,
}

impl WaitQueue {
    pub fn new(queue: Queue) -> Self {
        Self { queue, asleep: Default::default() }
    }

    /// `request` waits from now on, in the queue or before it.
    pub fn add(&mut self, request: Request, now: u64) {
        let asleep = &mut self.asleep[request.direction as usize];
        let mut sleepers = asleep.iter_mut();
        let own = sleepers.find(|sleeper| sleeper.context == request.context && !request.barrier);
        if let Some(sleeper) = own {
            sleeper.requests.push_back(request);
        } else if let Err(refused) = self.queue.offer(request, now) {
            asleep.push_back(Sleeper { context: refused.context, requests: [refused].into() });
        }
    }

    /// What to dispatch now; see [`crate::Elevator::next`].
    pub fn next(&mut self, now: u64) -> Option<Request> {
        // An elevator that refused everybody has nothing in flight whose completion would wake somebody.
        if self.queue.queued() == 0
            && let Some(request) = self.first_asleep()
        {
            self.queue.add(request, now);
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
            let sleepers = std::mem::take(asleep);
            let mut woken = VecDeque::new();
            for mut sleeper in sleepers {
                let before = sleeper.requests.len();
                sleeper.ask(&mut self.queue, now);
                match sleeper.requests.len() {
                    0 => {}
                    left if left == before => asleep.push_back(sleeper),
                    // It falls asleep again, behind the others: each has its turn.
                    _ => woken.push_back(sleeper),
                }
            }
            asleep.append(&mut woken);
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
        let asleep = self.asleep.iter().flatten().map(|sleeper| sleeper.requests.len());
        self.queue.queued() + asleep.sum::<usize>()
    }

    fn first_asleep(&mut self) -> Option<Request> {
        let asleep = self.asleep.iter_mut().find(|asleep| !asleep.is_empty())?;
        let mut sleeper = asleep.pop_front()?;
        let first = sleeper.requests.pop_front();
        if !sleeper.requests.is_empty() {
            asleep.push_back(sleeper);
        }
        first
    }
}

impl Sleeper {
    /// Gives `queue` what it takes, until the first that it refuses.
    fn ask(&mut self, queue: &mut Queue, now: u64) {
        while let Some(request) = self.requests.pop_front() {
            if let Err(refused) = queue.offer(request, now) {
                self.requests.push_front(refused);
                break;
            }
        }
    }
}
