// SPDX-License-Identifier: GPL-2.0-only
//! Anticipatory: batches of reads and of writes, and a short wait after each read for the next one
//! of its process.
//!
//! Linux 2.6.12, drivers/block/as-iosched.c. The synchronous class is called reads here and there:
//! it holds reads and writes that a process waits for.

mod batch;
mod kind;
mod process;
mod waiting;

use rustc_hash::FxHashMap as HashMap;

use batch::{Batches, Pending};
use kind::{Kind, kind};
use process::{Newcomers, Process};
use waiting::Anticipation;

use crate::elevator::{Elevator, End};
use crate::pool::{MayQueue, Pool};
use crate::request::{Context, Direction, Request};
use crate::sorted_fifo::{Key, SortedFifo};
use parameters::Settings;

/// The farthest that the head goes back for a request, in sectors; the way back counts
/// `BACK_PENALTY` times.
const BACK_MAX: u64 = 1024 * 1024;
const BACK_PENALTY: u64 = 2;

/// The waiting requests of one class.
struct Waiting {
    requests: SortedFifo,
    /// End of the last dispatched request.
    last_end: u64,
    expire_ns: u64,
    last_check: Option<u64>,
}

impl Waiting {
    fn new(expire_ns: u64) -> Self {
        Self { requests: SortedFifo::default(), last_end: 0, expire_ns, last_check: None }
    }

    fn best(&self) -> Option<Key> {
        self.requests.nearest(self.last_end, BACK_MAX, BACK_PENALTY)
    }

    /// The oldest request if it has expired. This is checked only once per expiry, or expired
    /// requests would cause nothing but seeks.
    fn overdue(&mut self, now: u64) -> Option<Key> {
        if self.last_check.is_some_and(|last| now - last < self.expire_ns) {
            return None;
        }
        self.last_check = Some(now);
        self.requests.expired(now)
    }
}

pub struct Anticipatory {
    /// The waiting requests of each kind.
    waiting: [Waiting; 2],
    batches: Batches,
    anticipation: Anticipation,
    processes: HashMap<Context, Process>,
    newcomers: Newcomers,
    /// How many of each kind are dispatched and not completed.
    in_flight: [usize; 2],
}

impl Anticipatory {
    /// # Panics
    /// If `settings` are not those of anticipatory.
    pub fn new(settings: &Settings) -> Self {
        let waiting =
            ["read_expire_ms", "write_expire_ms"].map(|name| Waiting::new(settings.ns(name)));
        let history = settings.choice("variant") == "2.6";
        Self {
            waiting,
            batches: Batches::new(
                settings.ns("read_batch_expire_ms"),
                settings.ns("write_batch_expire_ms"),
            ),
            anticipation: Anticipation::new(settings.ns("antic_expire_ms"), history),
            processes: HashMap::default(),
            newcomers: Newcomers::default(),
            in_flight: [0; 2],
        }
    }

    fn requests(&self, kind: Kind) -> &SortedFifo {
        &self.waiting[kind as usize].requests
    }

    /// Whether waiting for the anticipated process should end; `candidate` would be served instead.
    fn can_break(&mut self, candidate: Option<&Request>, now: u64) -> bool {
        let last_end = self.waiting[self.batches.kind as usize].last_end;
        self.anticipation.can_break(
            candidate,
            last_end,
            &mut self.processes,
            &mut self.newcomers,
            now,
        )
    }

    fn dispatch(&mut self, kind: Kind, key: Key) -> Request {
        let waiting = &mut self.waiting[kind as usize];
        let request = waiting.requests.take(key).request;
        waiting.last_end = request.end();
        self.in_flight[kind as usize] += 1;
        self.batches.dispatched(kind);
        self.forget_exited(request.context);
        self.anticipation.dispatched(&request, kind);
        let process =
            self.processes.get_mut(&request.context).expect("every queued request has a process");
        process.queued -= 1;
        process.in_flight += 1;
        request
    }

    /// Forgets the process that the disk waited for if it has exited, unless it is `next`.
    fn forget_exited(&mut self, next: Context) {
        if let Some(context) = self.anticipation.process().filter(|context| *context != next) {
            self.forget_if_exited(context);
        }
    }

    fn forget_if_exited(&mut self, context: Context) {
        let gone = |process: &Process| process.exited && process.queued + process.in_flight == 0;
        if self.processes.get(&context).is_some_and(gone) {
            self.processes.remove(&context);
        }
    }

    /// The next request of the running batch, or the first of another; None if the disk is to stay
    /// idle.
    fn of_running_batch(&mut self, reads: bool, writes: bool, now: u64) -> Option<Key> {
        if reads && writes && self.batches.expired(now) {
            return self.of_new_batch(now);
        }
        let kind = self.batches.kind;
        let best = self.waiting[kind as usize].best();
        if kind == Kind::Sync && self.anticipation.enabled() {
            // Only one read is in flight at a time, or there would be nothing to anticipate.
            let busy = self.in_flight[Kind::Sync as usize] > 0;
            if !busy && let Some(overdue) = self.waiting[kind as usize].overdue(now) {
                return Some(overdue);
            }
            let candidate = best.map(|key| self.requests(kind).get(key).request);
            if self.anticipation.may_wait() && !self.can_break(candidate.as_ref(), now) {
                self.anticipation.wait();
                return None;
            }
            if busy {
                return None;
            }
        }
        let Some(best) = best else { return self.of_new_batch(now) };
        if reads && !writes {
            self.batches.restart(now);
        }
        Some(self.waiting[kind as usize].overdue(now).unwrap_or(best))
    }

    /// Switches if the other kind is due. A batch of reads begins with the oldest one.
    fn of_new_batch(&mut self, now: u64) -> Option<Key> {
        let [reads, writes] = [Kind::Sync, Kind::Async].map(|kind| !self.requests(kind).is_empty());
        let to = if reads && !(writes && self.batches.kind == Kind::Sync) {
            Kind::Sync
        } else {
            Kind::Async
        };
        if !self.batches.switch(to, self.in_flight.iter().sum(), now) {
            return None;
        }
        self.of_started_batch(now)
    }

    fn of_started_batch(&mut self, now: u64) -> Option<Key> {
        let waiting = &mut self.waiting[self.batches.kind as usize];
        if self.batches.kind == Kind::Sync {
            waiting.last_check = Some(now);
            return waiting.requests.head();
        }
        waiting.overdue(now).or(waiting.best())
    }
}

impl Elevator for Anticipatory {
    fn add(&mut self, request: Request, now: u64) {
        let process = self.processes.entry(request.context).or_default();
        process.submitted(&request, &mut self.newcomers, now);
        let waiting = &mut self.waiting[kind(&request) as usize];
        waiting.requests.insert(request, now + waiting.expire_ns);
        if self.anticipation.waits() && self.can_break(Some(&request), now) {
            self.anticipation.finish();
        }
    }

    fn next(&mut self, now: u64) -> Option<Request> {
        self.anticipation.time_out(now, &self.processes, &mut self.newcomers);
        let [reads, writes] = [Kind::Sync, Kind::Async].map(|kind| !self.requests(kind).is_empty());
        self.batches.note_idle(reads, writes);
        if !(reads || writes) || self.anticipation.waits() {
            return None;
        }
        let key = match self.batches.pending(self.in_flight.iter().sum(), now) {
            Pending::Drains => None,
            Pending::Starts => match self.of_started_batch(now) {
                // A barrier has taken all requests of its kind.
                None => self.of_running_batch(reads, writes, now),
                key => key,
            },
            Pending::Nothing => self.of_running_batch(reads, writes, now),
        };
        key.map(|key| self.dispatch(self.batches.kind, key))
    }

    fn drain(&mut self, _now: u64) -> Option<Request> {
        let kind = if self.requests(Kind::Sync).is_empty() { Kind::Async } else { Kind::Sync };
        let best = self.waiting[kind as usize].best()?;
        Some(self.dispatch(kind, best))
    }

    fn completed(&mut self, request: &Request, now: u64) {
        let kind = kind(request);
        self.in_flight[kind as usize] -= 1;
        self.batches.completed(kind, now);
        let process = self
            .processes
            .get_mut(&request.context)
            .expect("every request in flight has a process");
        process.completed(kind == Kind::Sync, now);
        self.anticipation.completed(request, kind, now);
        if !self.anticipation.is_for(request.context) {
            self.forget_if_exited(request.context);
        }
    }

    fn next_timer(&self) -> Option<u64> {
        self.anticipation.timer()
    }

    fn process_exited(&mut self, context: Context, now: u64) {
        let Some(process) = self.processes.get_mut(&context) else { return };
        process.exited = true;
        if self.anticipation.is_for(context) {
            if self.anticipation.waits() && self.can_break(None, now) {
                self.anticipation.finish();
            }
        } else {
            self.forget_if_exited(context);
        }
    }

    fn may_queue(&self, context: Context, _direction: Direction, _pool: &Pool) -> MayQueue {
        if self.anticipation.waits() && self.anticipation.is_for(context) {
            MayQueue::Must
        } else {
            MayQueue::May
        }
    }

    fn queued(&self) -> usize {
        self.waiting.iter().map(|waiting| waiting.requests.len()).sum()
    }

    fn holds(&self, waiting: &Request) -> bool {
        self.requests(kind(waiting)).contains(waiting.id)
    }

    fn may_merge(&self, waiting: &Request, new: &Request, _end: End) -> bool {
        waiting.sync == new.sync
    }

    fn extended(&mut self, old: &Request, grown: &Request) {
        self.waiting[kind(old) as usize].requests.extend(old.id, grown);
    }

    fn joined(&mut self, survivor: &Request, gone: &Request) {
        self.waiting[kind(gone) as usize].requests.join(survivor.id, gone.id);
        if let Some(process) = self.processes.get_mut(&gone.context) {
            process.queued -= 1;
        }
    }
}
