// SPDX-License-Identifier: GPL-2.0-only
//! A queue, and the processes that sleep until its pool grants them a request (the wait queue of
//! ll_rw_blk.c).

use std::collections::VecDeque;

use crate::queue::Queue;
use crate::request::{Context, Id, Request};

/// A queue that accepts every request: those that the pool does not grant sleep.
pub struct WaitQueue {
    queue: Queue,
    /// Sleepers for each direction, in the order in which they fell asleep.
    asleep: [VecDeque<Sleeper>; 2],
}

/// A process that sleeps in its first request that is not granted, so that its later ones wait
/// behind it (Linux 2.5.63, drivers/block/ll_rw_blk.c, `get_request_wait`). No other process waits
/// for it.
struct Sleeper {
    context: Context,
    /// Requests not granted yet, in order of arrival; never empty.
    requests: VecDeque<Request>,
}

impl WaitQueue {
    pub fn new(queue: Queue) -> Self {
        Self { queue, asleep: Default::default() }
    }

    /// Takes `request`, which waits from now on, in the queue or asleep.
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

    /// The request to dispatch now; see [`crate::Elevator::next`].
    pub fn next(&mut self, now: u64) -> Option<Request> {
        // If the elevator has refused all processes, there is no request in flight whose completion
        // would wake one.
        if self.queue.queued() == 0
            && let Some(request) = self.first_asleep()
        {
            self.queue.add(request, now);
        }
        self.queue.next(now)
    }

    /// Notes that the request `id`, which `next` returned, was served, and wakes a sleeper if there
    /// is room. Returns its parts.
    ///
    /// # Panics
    /// If no request with that id is in flight.
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
                    // It falls asleep again behind the others, so that each has a turn.
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

    /// Notes that no more requests will come from `context`.
    pub fn process_exited(&mut self, context: Context, now: u64) {
        self.queue.process_exited(context, now);
    }

    /// How many requests wait, in the queue or asleep; merged ones count as one.
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
    /// Offers the requests to `queue` until it refuses one.
    fn ask(&mut self, queue: &mut Queue, now: u64) {
        while let Some(request) = self.requests.pop_front() {
            if let Err(refused) = queue.offer(request, now) {
                self.requests.push_front(refused);
                break;
            }
        }
    }
}
