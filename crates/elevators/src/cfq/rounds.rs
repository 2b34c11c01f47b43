// SPDX-License-Identifier: GPL-2.0-only
//! CFQ #2: rounds of requests. No expiry, no waiting, no preference for reads.

use std::collections::VecDeque;

use rustc_hash::FxHashMap as HashMap;

use crate::elevator::{Elevator, End};
use crate::pool::{MayQueue, Pool};
use crate::request::{Context, Direction, Request};
use crate::sorted_fifo::SortedFifo;
use parameters::Settings;

#[derive(Default)]
struct ProcessQueue {
    requests: SortedFifo,
    /// Requests of each direction that count against its share of the pool.
    counted: [usize; 2],
}

/// The patch "CFQ scheduler, #2" of 14 February 2003. With `quirks` it does what the posted code
/// did, which differs from what was meant: see docs/elevators/cfq.md.
pub struct Rounds {
    quantum: usize,
    queued: usize,
    quirks: bool,
    queues: HashMap<Context, ProcessQueue>,
    /// Processes with requests; the next round begins with the first.
    busy: VecDeque<Context>,
    dispatch: VecDeque<Request>,
}

impl Rounds {
    /// # Panics
    /// If `settings` are not those of cfq.
    pub fn new(settings: &Settings) -> Self {
        let (queues, busy, dispatch) = Default::default();
        Self {
            quantum: settings.count("quantum"),
            queued: settings.count("queued"),
            quirks: settings.get("quirks") == 1,
            queues,
            busy,
            dispatch,
        }
    }

    fn fill(&mut self) {
        let mut taken = 0;
        while taken < self.quantum && !self.busy.is_empty() {
            // A round, as it was meant, serves the processes that are busy when it begins.
            for _ in 0..self.busy.len() {
                let Some(context) = self.busy.pop_front() else { break };
                self.take_lowest(context);
                taken += 1;
            }
        }
    }

    fn take_lowest(&mut self, context: Context) {
        let queue = self.queues.get_mut(&context).expect("a busy process has a queue");
        let key = queue.requests.lowest().expect("a busy process has requests");
        let request = queue.requests.take(key).request;
        if !self.quirks {
            queue.counted[request.direction as usize] -= 1;
        }
        if queue.requests.is_empty() {
            self.queues.remove(&context);
        } else if self.quirks {
            // First quirk: the head of the list is served until it is empty.
            self.busy.push_front(context);
        } else {
            self.busy.push_back(context);
        }
        let place = self.place(request.first);
        self.dispatch.insert(place, request);
    }

    /// The index in the dispatch list for a request at `sector`.
    fn place(&self, sector: u64) -> usize {
        let before = |other: &Request| other.first <= sector;
        if !self.quirks {
            return self.dispatch.partition_point(before);
        }
        // Third quirk: the search from the tail stops at the first that is larger instead of smaller.
        self.dispatch.iter().rposition(|other| other.first >= sector).unwrap_or(self.dispatch.len())
    }

    fn holder(&self, waiting: &Request) -> Option<Context> {
        self.queues
            .get(&waiting.context)
            .filter(|queue| queue.requests.contains(waiting.id))
            .map(|_| waiting.context)
    }

    fn queue(&mut self, request: &Request) -> &mut ProcessQueue {
        self.queues
            .get_mut(&request.context)
            .expect("a waiting request is in the queue of its process")
    }
}

impl Elevator for Rounds {
    fn add(&mut self, request: Request, now: u64) {
        let queue = self.queues.entry(request.context).or_default();
        if queue.requests.is_empty() {
            match self.quirks {
                true => self.busy.push_front(request.context),
                false => self.busy.push_back(request.context),
            }
        }
        queue.counted[request.direction as usize] += 1;
        queue.requests.insert(request, now);
    }

    fn next(&mut self, _now: u64) -> Option<Request> {
        if self.dispatch.is_empty() {
            self.fill();
        }
        self.dispatch.pop_front()
    }

    fn completed(&mut self, _request: &Request, _now: u64) {}

    fn may_queue(&self, context: Context, direction: Direction, pool: &Pool) -> MayQueue {
        let Some(queue) = self.queues.get(&context) else { return MayQueue::May };
        // Second quirk: `counted` only ever grows until the queue is empty, so this is soon too much.
        let counted = queue.counted[direction as usize];
        let share = pool.limit.saturating_sub(self.queued) / self.busy.len().max(1);
        if counted >= self.queued && counted >= share { MayQueue::No } else { MayQueue::May }
    }

    fn queued(&self) -> usize {
        self.dispatch.len() + self.queues.values().map(|queue| queue.requests.len()).sum::<usize>()
    }

    fn holds(&self, waiting: &Request) -> bool {
        self.holder(waiting).is_some()
    }

    /// Merges at the back with a request of any process, at the front only with one of the same
    /// process.
    fn may_merge(&self, waiting: &Request, new: &Request, end: End) -> bool {
        end == End::Back || waiting.context == new.context
    }

    fn extended(&mut self, old: &Request, grown: &Request) {
        self.queue(old).requests.extend(old.id, grown);
    }

    fn joined(&mut self, survivor: &Request, gone: &Request) {
        let key = self.queue(gone).requests.key(gone.id).expect("what is merged waits");
        let quirks = self.quirks;
        let queue = self.queue(gone);
        if survivor.context == gone.context {
            queue.requests.join(survivor.id, gone.id);
        } else {
            queue.requests.take(key);
        }
        if !quirks {
            queue.counted[gone.direction as usize] -= 1;
        }
        if queue.requests.is_empty() {
            self.queues.remove(&gone.context);
            self.busy.retain(|context| *context != gone.context);
        }
    }
}
