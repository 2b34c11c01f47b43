// SPDX-License-Identifier: GPL-2.0-only
//! The part of the block layer around every elevator: merging, barriers, the pool.

use std::collections::VecDeque;

use rustc_hash::FxHashMap as HashMap;

use crate::elevator::{Elevator, End};
use crate::merge::Mergeable;
use crate::pool::Pool;
use crate::request::{Context, Direction, Id, Request};
use parameters::Settings;

/// An elevator with the block layer's part around it.
///
/// A merged request is one request to the elevator and the disk; its completion returns all its parts.
/// A barrier empties the elevator into the dispatch list and is appended there, as the kernel did
/// (Linux 2.5.63, drivers/block, ELEVATOR_INSERT_BACK): requests that come later are dispatched
/// later.
pub struct Queue<E = Box<dyn Elevator>> {
    elevator: E,
    mergeable: Mergeable,
    dispatch: VecDeque<Request>,
    in_flight: HashMap<Id, Request>,
    pool: Pool,
    max_sectors: u64,
}

impl Queue {
    /// Builds the elevator of `settings`, with a queue around it.
    pub fn new(settings: &Settings) -> Self {
        let elevator = crate::catalogue::build(settings);
        Self::around(elevator, settings.count("nr_requests"), settings.get("max_sectors_kb") * 2)
    }
}

impl<E: Elevator> Queue<E> {
    /// Puts a queue around `elevator`, with `nr_requests` for each direction; no merged request is
    /// larger than `max_sectors`.
    pub fn around(elevator: E, nr_requests: usize, max_sectors: u64) -> Self {
        let (mergeable, dispatch, in_flight) =
            (Mergeable::default(), VecDeque::new(), HashMap::default());
        Self { elevator, mergeable, dispatch, in_flight, pool: Pool::new(nr_requests), max_sectors }
    }

    /// Takes `request` if it can be merged or the pool grants one. Otherwise returns it: its
    /// process has to wait for a completion.
    pub fn offer(&mut self, request: Request, now: u64) -> Result<(), Request> {
        if self.merge(&request) {
            return Ok(());
        }
        if !request.barrier && !self.may_queue(request.context, request.direction) {
            return Err(request);
        }
        self.enqueue(request, now);
        Ok(())
    }

    /// Takes `request` even if the pool grants none.
    pub fn add(&mut self, request: Request, now: u64) {
        if !self.merge(&request) {
            self.enqueue(request, now);
        }
    }

    /// Whether `context` gets a request of `direction` that cannot be merged.
    pub fn may_queue(&self, context: Context, direction: Direction) -> bool {
        self.pool.grants(direction, self.elevator.may_queue(context, direction, &self.pool))
    }

    /// The request to dispatch now; see [`Elevator::next`].
    pub fn next(&mut self, now: u64) -> Option<Request> {
        let next = match self.dispatch.pop_front() {
            Some(first) => first,
            None => self.elevator.next(now)?,
        };
        self.mergeable.remove(next.id);
        self.in_flight.insert(next.id, next);
        Some(next)
    }

    /// Notes that the request `id`, which `next` returned, was served. Returns its parts in order
    /// of sectors.
    ///
    /// # Panics
    /// If no request with that id is in flight.
    pub fn completed(&mut self, id: Id, now: u64) -> Vec<Request> {
        let request =
            self.in_flight.remove(&id).unwrap_or_else(|| panic!("request {id} is not in flight"));
        self.pool.give_back(request.direction);
        if !request.barrier {
            self.elevator.completed(&request, now);
        }
        self.mergeable.parts(&request)
    }

    /// When `next` has to be asked again even if nothing happens until then.
    pub fn next_timer(&self) -> Option<u64> {
        self.elevator.next_timer()
    }

    /// Notes that no more requests will come from `context`.
    pub fn process_exited(&mut self, context: Context, now: u64) {
        self.elevator.process_exited(context, now);
    }

    /// How many requests wait; merged ones count as one.
    pub fn queued(&self) -> usize {
        self.elevator.queued() + self.dispatch.len()
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    pub fn elevator(&self) -> &E {
        &self.elevator
    }

    fn enqueue(&mut self, request: Request, now: u64) {
        self.pool.take(request.direction);
        if request.barrier {
            while let Some(earlier) = self.elevator.drain(now) {
                self.mergeable.remove(earlier.id);
                self.dispatch.push_back(earlier);
            }
            self.dispatch.push_back(request);
            return;
        }
        self.mergeable.insert(request);
        self.elevator.add(request, now);
    }

    fn merge(&mut self, new: &Request) -> bool {
        if new.barrier {
            return false;
        }
        let found =
            self.mergeable.candidates(new).find(|(waiting, end)| self.fits(waiting, new, *end));
        let Some((waiting, end)) = found else { return false };
        let grown = self.grow(&waiting, new);
        match end {
            End::Back => self.join(Some(grown), self.mergeable.behind(&grown)),
            End::Front => self.join(self.mergeable.before(&grown), Some(grown)),
        }
        true
    }

    /// Joins two waiting requests if a merge has closed the gap between them.
    fn join(&mut self, survivor: Option<Request>, gone: Option<Request>) {
        let (Some(survivor), Some(gone)) = (survivor, gone) else { return };
        if survivor.id == gone.id
            || !self.elevator.holds(&gone)
            || !self.fits(&survivor, &gone, End::Back)
        {
            return;
        }
        self.mergeable.remove(gone.id);
        self.elevator.joined(&survivor, &gone);
        self.grow(&survivor, &gone);
        self.pool.give_back(gone.direction);
    }

    fn grow(&mut self, waiting: &Request, part: &Request) -> Request {
        let first = waiting.first.min(part.first);
        let grown = Request { first, sectors: waiting.sectors + part.sectors, ..*waiting };
        self.mergeable.grow(waiting, grown, part);
        self.elevator.extended(waiting, &grown);
        grown
    }

    fn fits(&self, waiting: &Request, new: &Request, end: End) -> bool {
        waiting.sectors + new.sectors <= self.max_sectors
            && self.elevator.holds(waiting)
            && self.elevator.may_merge(waiting, new, end)
    }
}
