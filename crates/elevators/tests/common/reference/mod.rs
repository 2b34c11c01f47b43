// SPDX-License-Identifier: GPL-2.0-only
//! References for the elevators: plain lists that are searched from end to end at every choice.
//!
//! No reference merges requests; time is in whole nanoseconds.

pub mod anticipatory;
pub mod mq;
pub mod sliced;

use elevators::{Direction, Request};

/// Waiting requests, each with the time of its arrival.
pub type Waiting = Vec<(Request, u64)>;

pub fn oldest(waiting: &Waiting, keep: impl Fn(&Request) -> bool) -> Option<usize> {
    (0..waiting.len()).find(|index| keep(&waiting[*index].0))
}

/// The first request in order of sectors, then of arrival, for which `keep` is true.
pub fn lowest(waiting: &Waiting, keep: impl Fn(&Request) -> bool) -> Option<usize> {
    (0..waiting.len())
        .filter(|index| keep(&waiting[*index].0))
        .min_by_key(|index| (waiting[*index].0.first, *index))
}

/// Deadline with default parameters, sectors all different.
#[derive(Default)]
pub struct Deadline {
    gap_ends_batch: bool,
    waiting: Waiting,
    /// The id of the next request in sort order, as it was when the last request was dispatched.
    following: Option<u64>,
    last: Option<Request>,
    batch: u64,
    reads_preferred: u64,
}

impl Deadline {
    pub fn new(gap_ends_batch: bool) -> Self {
        Self { gap_ends_batch, ..Self::default() }
    }

    pub fn add(&mut self, request: Request, now: u64) {
        self.waiting.push((request, now));
    }

    pub fn next(&mut self, now: u64) -> Option<Request> {
        let following = self
            .following
            .and_then(|id| self.waiting.iter().position(|(request, _)| request.id == id));
        let mut chosen = None;
        if let Some(index) = following {
            let contiguous =
                self.last.is_some_and(|last| last.end() == self.waiting[index].0.first);
            if self.gap_ends_batch && !contiguous {
                self.batch += 16;
            }
            chosen = (self.batch < 16).then_some(index);
        }
        if chosen.is_none() {
            let of = |direction| move |request: &Request| request.direction == direction;
            let reads = oldest(&self.waiting, of(Direction::Read)).is_some();
            let writes = oldest(&self.waiting, of(Direction::Write)).is_some();
            let direction = match (reads, writes) {
                (false, false) => return None,
                (true, true) if self.reads_preferred < 2 => {
                    self.reads_preferred += 1;
                    Direction::Read
                }
                (true, false) => Direction::Read,
                _ => {
                    self.reads_preferred = 0;
                    Direction::Write
                }
            };
            let limit = if direction == Direction::Read { 500_000_000 } else { 5_000_000_000 };
            let head = oldest(&self.waiting, of(direction)).unwrap();
            let stays = following.filter(|index| self.waiting[*index].0.direction == direction);
            chosen = if self.waiting[head].1 + limit <= now {
                self.batch = 0;
                Some(head)
            } else if stays.is_some() {
                stays
            } else {
                self.batch = 0;
                lowest(&self.waiting, of(direction))
            };
        }
        let (request, _) = self.waiting.remove(chosen.unwrap());
        self.batch += 1;
        self.last = Some(request);
        let beyond =
            |other: &Request| other.direction == request.direction && other.first > request.first;
        self.following = lowest(&self.waiting, beyond).map(|index| self.waiting[index].0.id);
        Some(request)
    }
}

/// CFQ #2 as it was meant, with default parameters.
#[derive(Default)]
pub struct Rounds {
    waiting: Waiting,
    /// Processes with requests, next to be served first.
    turn: Vec<u64>,
    list: Vec<Request>,
}

impl Rounds {
    pub fn add(&mut self, request: Request, now: u64) {
        if !self.turn.contains(&request.context) {
            self.turn.push(request.context);
        }
        self.waiting.push((request, now));
    }

    pub fn next(&mut self, _now: u64) -> Option<Request> {
        if self.list.is_empty() {
            while self.list.len() < 4 && !self.waiting.is_empty() {
                for context in self.turn.clone() {
                    let index =
                        lowest(&self.waiting, |request| request.context == context).unwrap();
                    self.list.push(self.waiting.remove(index).0);
                    if !self.waiting.iter().any(|(request, _)| request.context == context) {
                        self.turn.retain(|other| *other != context);
                    }
                }
            }
            // Two at the same sector stay in the order in which they were taken.
            self.list.sort_by_key(|request| request.first);
        }
        (!self.list.is_empty()).then(|| self.list.remove(0))
    }
}
