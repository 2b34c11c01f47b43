// SPDX-License-Identifier: GPL-2.0-only
//! What every I/O scheduler can do.

use crate::pool::{MayQueue, Pool};
use crate::request::{Context, Direction, Id, Request};

/// At which end of a waiting request a new one would be joined to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Front,
    Back,
}

/// A pure state machine that orders requests. `now` is in nanoseconds and never goes back.
///
/// Merging and barriers are the business of [`crate::Queue`]: no elevator sees a barrier.
pub trait Elevator: Send {
    /// `request` waits from now on. Ask `next` afterwards.
    fn add(&mut self, request: Request, now: u64);

    /// What to dispatch now, if anything. None with requests waiting means that the elevator holds the
    /// disk idle on purpose; then ask again after the next `add`, `completed`, `process_exited` or
    /// at `next_timer`, whatever comes first; to ask before changes nothing.
    fn next(&mut self, now: u64) -> Option<Request>;

    /// What to dispatch now whatever the disk should wait for: None only if nothing waits. For barriers.
    fn drain(&mut self, now: u64) -> Option<Request> {
        self.next(now)
    }

    /// `request`, as `next` or `drain` gave it, has been served. Ask `next` afterwards.
    fn completed(&mut self, request: &Request, now: u64);

    /// When `next` has to be asked even if nothing happens until then, in nanoseconds.
    fn next_timer(&self) -> Option<u64> {
        None
    }

    /// No more requests will come from `context`. Ask `next` afterwards.
    fn process_exited(&mut self, _context: Context, _now: u64) {}

    /// Whether `context` may take another request of `direction` from the pool.
    fn may_queue(&self, _context: Context, _direction: Direction, _pool: &Pool) -> MayQueue {
        MayQueue::May
    }

    /// How many wait.
    fn queued(&self) -> usize;

    /// Whether `waiting` can still be changed, which it cannot once its place is settled.
    fn holds(&self, waiting: &Request) -> bool;

    /// Whether `new` may become a part of `waiting`, which it touches at `end` and has the direction of.
    fn may_merge(&self, waiting: &Request, new: &Request, end: End) -> bool;

    /// The waiting request of id `old.id` was `old` and is now as large as `grown`.
    fn extended(&mut self, old: &Request, grown: &Request);

    /// `gone` became a part of `survivor`, both waiting, which then inherits the earlier expiry and
    /// place. `extended` follows.
    fn joined(&mut self, survivor: &Request, gone: &Request);
}

impl Elevator for Box<dyn Elevator> {
    fn add(&mut self, request: Request, now: u64) {
        (**self).add(request, now);
    }
    fn next(&mut self, now: u64) -> Option<Request> {
        (**self).next(now)
    }
    fn drain(&mut self, now: u64) -> Option<Request> {
        (**self).drain(now)
    }
    fn completed(&mut self, request: &Request, now: u64) {
        (**self).completed(request, now);
    }
    fn next_timer(&self) -> Option<u64> {
        (**self).next_timer()
    }
    fn process_exited(&mut self, context: Context, now: u64) {
        (**self).process_exited(context, now);
    }
    fn may_queue(&self, context: Context, direction: Direction, pool: &Pool) -> MayQueue {
        (**self).may_queue(context, direction, pool)
    }
    fn queued(&self) -> usize {
        (**self).queued()
    }
    fn holds(&self, waiting: &Request) -> bool {
        (**self).holds(waiting)
    }
    fn may_merge(&self, waiting: &Request, new: &Request, end: End) -> bool {
        (**self).may_merge(waiting, new, end)
    }
    fn extended(&mut self, old: &Request, grown: &Request) {
        (**self).extended(old, grown);
    }
    fn joined(&mut self, survivor: &Request, gone: &Request) {
        (**self).joined(survivor, gone);
    }
}

/// The id of what a merge or a completion was about, in messages of assertions.
pub(crate) fn not_waiting(id: Id) -> String {
    format!("request {id} does not wait here")
}
