// SPDX-License-Identifier: GPL-2.0-only
//! Time-sliced CFQ: the disk belongs to one process for a while, even if it makes a short pause.
//!
//! Linux 2.6.13 to 4.20, block/cfq-iosched.c, without groups: the rules of about 2.6.28, and the
//! shortened slices of 2.6.32 as a parameter.

use rustc_hash::FxHashMap as HashMap;

use super::order::Order;
use super::process::{Owner, ProcessQueue, Slice};
use crate::elevator::{Elevator, End};
use crate::pool::{MayQueue, Pool};
use crate::portion::portion;
use crate::request::{Class, Context, Direction, Request};
use crate::sorted_fifo::Key;
use crate::time::MS;
use parameters::Settings;

/// The idle class waits until the others have not used the disk for this long (CFQ_IDLE_GRACE).
const IDLE_GRACE_NS: u64 = 200 * MS;

struct Rules {
    quantum: usize,
    /// Expiry of async and of sync requests.
    fifo_expire_ns: [u64; 2],
    slice_ns: [u64; 2],
    slice_async_rq: u64,
    slice_idle_ns: u64,
    back_max: u64,
    back_penalty: u64,
    /// Slices are shortened so that all queues have a turn within this time.
    target_latency_ns: Option<u64>,
}

impl Rules {
    /// The length of a slice: the level changes it by a fifth per step (cfq_prio_slice).
    fn slice_ns(&self, sync: bool, level: u8) -> u64 {
        let base = self.slice_ns[usize::from(sync)];
        (base + base / 5 * 4) - base / 5 * u64::from(level)
    }

    /// Most requests of an asynchronous slice (cfq_prio_to_maxrq).
    fn most_async(&self, level: u8) -> u64 {
        2 * (self.slice_async_rq + self.slice_async_rq * (7 - u64::from(level)))
    }
}

struct Active {
    owner: Owner,
    slice: Slice,
    /// The disk is held idle for it until then.
    waits_until: Option<u64>,
}

pub struct Sliced {
    rules: Rules,
    queues: HashMap<Owner, ProcessQueue>,
    /// Queues with requests, except the active one.
    order: Order,
    active: Option<Active>,
    head: u64,
    queued: usize,
    /// How many async and sync requests are dispatched and not completed.
    in_flight: [usize; 2],
    /// When a request of another class than idle last completed.
    last_completion: Option<u64>,
}

impl Sliced {
    /// # Panics
    /// If `settings` are not those of cfq.
    pub fn new(settings: &Settings) -> Self {
        let rules = Rules {
            quantum: settings.count("quantum"),
            fifo_expire_ns: ["fifo_expire_async_ms", "fifo_expire_sync_ms"]
                .map(|name| settings.ns(name)),
            slice_ns: ["slice_async_ms", "slice_sync_ms"].map(|name| settings.ns(name)),
            slice_async_rq: settings.get("slice_async_rq"),
            slice_idle_ns: settings.ns("slice_idle_ms"),
            back_max: settings.get("back_seek_max_kb") * 2,
            back_penalty: settings.get("back_seek_penalty"),
            target_latency_ns: (settings.get("low_latency") == 1)
                .then(|| settings.ns("target_latency_ms")),
        };
        let (queues, order) = Default::default();
        Self {
            rules,
            queues,
            order,
            active: None,
            head: 0,
            queued: 0,
            in_flight: [0; 2],
            last_completion: None,
        }
    }

    fn queue(&mut self, owner: Owner) -> &mut ProcessQueue {
        self.queues.get_mut(&owner).expect("a queued, active or in-flight process has a queue")
    }

    /// The length of a slice that begins now (cfq_scaled_cfqq_slice).
    fn slice_ns(&self, owner: Owner) -> u64 {
        let queue = &self.queues[&owner];
        let slice = self.rules.slice_ns(owner.is_sync(), queue.priority.level);
        let Some(target) = self.rules.target_latency_ns else { return slice };
        let sync = self.rules.slice_ns[1];
        let turn = sync * (self.order.of_class(queue.priority.class) as u64 + 1);
        if turn <= target {
            return slice;
        }
        let least = slice.min(portion(slice, 2 * self.rules.slice_idle_ns, sync));
        portion(slice, target, turn).max(least)
    }

    fn enqueue(&mut self, owner: Owner, now: u64) {
        let queue = &self.queues[&owner];
        let (class, rest_ns) = (queue.priority.class, queue.rest_ns);
        let longest = self.rules.slice_ns(true, 0);
        let own = self.rules.slice_ns(owner.is_sync(), queue.priority.level);
        let ahead = i64::try_from(self.order.len()).expect("fewer queues than requests");
        let offset = ahead * signed_difference(longest, own);
        self.order.add(owner, class, now, offset, rest_ns);
    }

    /// Ends the slice of the active queue; the rest of it is kept only if it was `interrupted`.
    fn expire(&mut self, interrupted: bool, now: u64) {
        let Some(active) = self.active.take() else { return };
        let rest = active.slice.end.map_or(0, |end| signed_difference(end, now));
        let queue = self.queue(active.owner);
        queue.rest_ns = if interrupted || rest < 0 { rest } else { 0 };
        if !queue.requests.is_empty() {
            self.enqueue(active.owner, now);
        } else {
            self.forget_if_exited(active.owner);
        }
    }

    fn forget_if_exited(&mut self, owner: Owner) {
        let is_active = self.active.as_ref().is_some_and(|active| active.owner == owner);
        let gone = |queue: &ProcessQueue| {
            queue.exited && queue.requests.is_empty() && queue.in_flight == 0
        };
        if !is_active && self.queues.get(&owner).is_some_and(gone) {
            self.queues.remove(&owner);
        }
    }

    fn activate(&mut self, owner: Owner) {
        self.order.remove(owner);
        let slice = Slice { end: None, dispatched: 0, checked_fifo: false };
        self.active = Some(Active { owner, slice, waits_until: None });
    }

    /// Gives the disk to the first queue in order; the idle class gets it only after its grace.
    fn activate_next(&mut self, now: u64) -> Option<()> {
        let (class, owner) = self.order.first()?;
        if class == Class::Idle && self.grace_end().is_some_and(|end| now < end) {
            return None;
        }
        self.activate(owner);
        Some(())
    }

    fn grace_end(&self) -> Option<u64> {
        self.last_completion.map(|last| last + IDLE_GRACE_NS)
    }

    /// Whether the active queue keeps the disk; Some(false) if it keeps it without having requests.
    fn keeps(&self, now: u64) -> Option<bool> {
        let active = self.active.as_ref()?;
        let queue = &self.queues[&active.owner];
        if active.slice.end.is_some_and(|end| now >= end)
            || self.has_had_its_requests(active, queue)
        {
            return None;
        }
        if !queue.requests.is_empty() {
            return Some(true);
        }
        let waits = active.waits_until.is_some_and(|until| now < until);
        let comes_back = queue.in_flight > 0 && queue.is_worth_waiting(self.rules.slice_idle_ns);
        (waits || comes_back).then_some(false)
    }

    fn has_had_its_requests(&self, active: &Active, queue: &ProcessQueue) -> bool {
        match (queue.priority.class, active.owner) {
            (Class::Idle, _) => active.slice.dispatched >= 1,
            (_, Owner::Async(priority)) => {
                active.slice.dispatched >= self.rules.most_async(priority.level)
            }
            _ => false,
        }
    }

    /// Whether the device has as many requests of this queue as it may.
    fn device_is_full(&self, queue: &ProcessQueue) -> bool {
        // Requests that no process waits for have to leave the device before a reader can be timed.
        let foreign = if queue.owner.is_sync() { self.in_flight[0] } else { self.in_flight[1] };
        foreign > 0 || queue.in_flight >= self.rules.quantum
    }

    fn choose(&mut self, now: u64) -> Option<(Owner, Key)> {
        let active = self.active.as_mut()?;
        let queue = self.queues.get(&active.owner)?;
        let mut overdue = None;
        if !active.slice.checked_fifo {
            active.slice.checked_fifo = true;
            overdue = queue.requests.expired(now);
        }
        let key = overdue.or_else(|| {
            queue.requests.nearest(self.head, self.rules.back_max, self.rules.back_penalty)
        })?;
        active.slice.dispatched += 1;
        active.waits_until = None;
        Some((active.owner, key))
    }

    fn take(&mut self, owner: Owner, key: Key) -> Request {
        let queue = self.queue(owner);
        let request = queue.requests.take(key).request;
        queue.in_flight += 1;
        self.head = request.end();
        self.queued -= 1;
        self.in_flight[usize::from(request.sync)] += 1;
        request
    }

    /// Whether `request` takes the disk from the active queue (cfq_should_preempt).
    fn preempts(&self, request: &Request) -> bool {
        let Some(active) = &self.active else { return false };
        let running = &self.queues[&active.owner];
        if active.owner == Owner::of(request) {
            return false;
        }
        let class = request.priority.class;
        if class != running.priority.class {
            return running.priority.class == Class::Idle || class == Class::RealTime;
        }
        if class == Class::Idle || !request.sync {
            return false;
        }
        let close = ProcessQueue::is_close(self.head.abs_diff(request.first));
        !active.owner.is_sync() || (active.waits_until.is_some() && close)
    }
}

/// `one` less `other`, both times in nanoseconds.
fn signed_difference(one: u64, other: u64) -> i64 {
    one.checked_signed_diff(other).expect("no time is later than LATEST_NS")
}

impl Elevator for Sliced {
    fn add(&mut self, request: Request, now: u64) {
        let owner = Owner::of(&request);
        let idle_ns = self.rules.slice_idle_ns;
        let queue =
            self.queues.entry(owner).or_insert_with(|| ProcessQueue::new(owner, request.priority));
        let was_empty = queue.requests.is_empty();
        queue.submitted(&request, idle_ns, now);
        queue.requests.insert(request, now + self.rules.fifo_expire_ns[usize::from(request.sync)]);
        self.queued += 1;
        let is_active = self.active.as_ref().is_some_and(|active| active.owner == owner);
        if was_empty && !is_active {
            self.enqueue(owner, now);
        }
        if self.preempts(&request) {
            self.expire(true, now);
            self.activate(owner);
        }
    }

    fn next(&mut self, now: u64) -> Option<Request> {
        match self.keeps(now) {
            Some(false) => return None,
            Some(true) => {}
            None => {
                self.expire(false, now);
                self.activate_next(now)?;
            }
        }
        let active = self.active.as_ref()?;
        if self.device_is_full(&self.queues[&active.owner]) {
            return None;
        }
        let (owner, key) = self.choose(now)?;
        Some(self.take(owner, key))
    }

    fn drain(&mut self, now: u64) -> Option<Request> {
        self.expire(true, now);
        let (_, owner) = self.order.first()?;
        let key = self.queues[&owner].requests.nearest(
            self.head,
            self.rules.back_max,
            self.rules.back_penalty,
        )?;
        let request = self.take(owner, key);
        if self.queues[&owner].requests.is_empty() {
            self.order.remove(owner);
        }
        Some(request)
    }

    fn completed(&mut self, request: &Request, now: u64) {
        let owner = Owner::of(request);
        let idle_ns = self.rules.slice_idle_ns;
        self.in_flight[usize::from(request.sync)] -= 1;
        if request.priority.class != Class::Idle {
            self.last_completion = Some(now);
        }
        self.queue(owner).completed(now);
        let fresh = now + self.slice_ns(owner);
        let queue = &self.queues[&owner];
        let waits =
            queue.requests.is_empty() && queue.in_flight == 0 && queue.is_worth_waiting(idle_ns);
        match self.active.as_mut().filter(|active| active.owner == owner) {
            None => self.forget_if_exited(owner),
            Some(active) => {
                let end = *active.slice.end.get_or_insert(fresh);
                active.waits_until = waits.then(|| end.min(now + idle_ns));
            }
        }
    }

    fn next_timer(&self) -> Option<u64> {
        if let Some(active) = &self.active {
            return active.waits_until;
        }
        let idle_waits = self.order.first().is_some_and(|(class, _)| class == Class::Idle);
        self.grace_end().filter(|_| idle_waits)
    }

    fn process_exited(&mut self, context: Context, now: u64) {
        let owner = Owner::Sync(context);
        let Some(queue) = self.queues.get_mut(&owner) else { return };
        queue.exited = true;
        let pointless = queue.requests.is_empty() && queue.in_flight == 0;
        if pointless && self.active.as_ref().is_some_and(|active| active.owner == owner) {
            self.expire(false, now);
        }
        self.forget_if_exited(owner);
    }

    fn may_queue(&self, context: Context, _direction: Direction, _pool: &Pool) -> MayQueue {
        let waits =
            |active: &Active| active.owner == Owner::Sync(context) && active.waits_until.is_some();
        if self.active.as_ref().is_some_and(waits) { MayQueue::Must } else { MayQueue::May }
    }

    fn queued(&self) -> usize {
        self.queued
    }

    fn holds(&self, waiting: &Request) -> bool {
        self.queues
            .get(&Owner::of(waiting))
            .is_some_and(|queue| queue.requests.contains(waiting.id))
    }

    /// Merges only within one queue, or one process would pay for another.
    fn may_merge(&self, waiting: &Request, new: &Request, _end: End) -> bool {
        Owner::of(waiting) == Owner::of(new)
    }

    fn extended(&mut self, old: &Request, grown: &Request) {
        self.queue(Owner::of(old)).requests.extend(old.id, grown);
    }

    fn joined(&mut self, survivor: &Request, gone: &Request) {
        self.queue(Owner::of(survivor)).requests.join(survivor.id, gone.id);
        self.queued -= 1;
    }
}
