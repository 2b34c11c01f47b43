// SPDX-License-Identifier: GPL-2.0-only
//! The interface of every I/O scheduler.

use crate::pool::{MayQueue, Pool};
use crate::request::{Context, Direction, Id, Request};

/// The end of a waiting request at which a new one would be joined to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Front,
    Back,
}

/// A pure state machine that orders requests. `now` is in nanoseconds and never goes back.
///
/// Merging and barriers are the business of [`crate::Queue`]: no elevator sees a barrier.
pub trait Elevator: Send {
    /// Takes `request`, which waits from now on. Ask `next` afterwards.
    fn add(&mut self, request: Request, now: u64);

    /// The request to dispatch now, if any. None with requests waiting means that the elevator
    /// holds the disk idle on purpose; then ask again after the next `add`, `completed`,
    /// `process_exited` or at `next_timer`, whichever comes first; to ask before changes nothing.
    fn next(&mut self, now: u64) -> Option<Request>;

    /// The request to dispatch now even if the disk should stay idle; None only if no request
    /// waits. For barriers.
    fn drain(&mut self, now: u64) -> Option<Request> {
        self.next(now)
    }

    /// Notes that `request`, as `next` or `drain` returned it, has been served. Ask `next`
    /// afterwards.
    fn completed(&mut self, request: &Request, now: u64);

    /// When `next` has to be asked even if nothing happens until then, in nanoseconds.
    fn next_timer(&self) -> Option<u64> {
        None
    }

    /// Notes that no more requests will come from `context`. Ask `next` afterwards.
    fn process_exited(&mut self, _context: Context, _now: u64) {}

    /// Whether `context` may take another request of `direction` from the pool.
    fn may_queue(&self, _context: Context, _direction: Direction, _pool: &Pool) -> MayQueue {
        MayQueue::May
    }

    /// How many requests wait.
    fn queued(&self) -> usize;

    /// Whether `waiting` can still be changed, which it cannot once its place is settled.
    fn holds(&self, waiting: &Request) -> bool;

    /// Whether `new` may become a part of `waiting`, which has the same direction and touches it at
    /// `end`.
    fn may_merge(&self, waiting: &Request, new: &Request, end: End) -> bool;

    /// Notes that the waiting request with the id of `old` has grown from `old` to `grown`.
    fn extended(&mut self, old: &Request, grown: &Request);

    /// Notes that `gone` became a part of `survivor`; both waited. `survivor` inherits the earlier
    /// expiry and place. `extended` follows.
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

/// The message of an assertion about a request that should wait here.
pub(crate) fn not_waiting(id: Id) -> String {
    format!("request {id} does not wait here")
}
