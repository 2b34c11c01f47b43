// SPDX-License-Identifier: GPL-2.0-only
//! A reference for time-sliced CFQ, for best-effort processes at level 4 with too few samples to
//! give up waiting for them.
#![expect(clippy::cast_possible_wrap, reason = "sharers are few")]

use super::{Waiting, oldest};
use elevators::Request;

const MS: i64 = 1_000_000;

/// A process, or all asynchronous requests.
#[derive(Clone, Copy, PartialEq)]
struct Share {
    who: Option<u64>,
    /// When it is due, and the order in which that was decided.
    due: Option<(i64, u64)>,
    rest: i64,
}

/// Time-sliced CFQ with default parameters except `low_latency=0`.
#[derive(Default)]
pub struct Sliced {
    waiting: Waiting,
    flying: Vec<Request>,
    shares: Vec<Share>,
    said: u64,
    head: u64,
    /// The owner of the disk.
    owner: Option<Option<u64>>,
    /// When its slice ends.
    end: Option<i64>,
    /// How many requests it has dispatched.
    had: u64,
    /// Until when the disk waits for it.
    waits: Option<i64>,
}

fn who(request: &Request) -> Option<u64> {
    request.sync.then_some(request.context)
}

impl Sliced {
    fn share(&mut self, of: Option<u64>) -> &mut Share {
        if !self.shares.iter().any(|share| share.who == of) {
            self.shares.push(Share { who: of, due: None, rest: 0 });
        }
        self.shares.iter_mut().find(|share| share.who == of).expect("it was just made")
    }

    fn has(&self, of: Option<u64>) -> bool {
        self.waiting.iter().any(|(request, _)| who(request) == of)
    }

    fn say_when(&mut self, of: Option<u64>, now: i64) {
        let others = self.shares.iter().filter(|share| share.due.is_some()).count() as i64;
        let own = if of.is_some() { 100 * MS } else { 40 * MS };
        self.said += 1;
        let said = self.said;
        let share = self.share(of);
        share.due = Some((now + others * (180 * MS - own) - share.rest, said));
    }

    fn lose(&mut self, interrupted: bool, now: i64) {
        let Some(of) = self.owner.take() else { return };
        let rest = self.end.map_or(0, |end| end - now);
        self.share(of).rest = if interrupted { rest } else { rest.min(0) };
        if self.has(of) {
            self.say_when(of, now);
        }
    }

    fn win(&mut self, of: Option<u64>) {
        self.share(of).due = None;
        (self.owner, self.end, self.had, self.waits) = (Some(of), None, 0, None);
    }

    pub fn add(&mut self, request: Request, now: u64) {
        let of = who(&request);
        let first = !self.has(of);
        self.waiting.push((request, now));
        self.share(of);
        if first && self.owner != Some(of) {
            self.say_when(of, now.cast_signed());
        }
        let close = self.head.max(request.first) - self.head.min(request.first) <= 8192;
        let weaker = |owner: Option<u64>| owner.is_none() || (self.waits.is_some() && close);
        if request.sync && self.owner.is_some_and(|owner| owner != of && weaker(owner)) {
            self.lose(true, now.cast_signed());
            self.win(of);
        }
    }

    pub fn completed(&mut self, request: &Request, now: u64) {
        let now = now.cast_signed();
        let of = who(request);
        self.flying.retain(|other| other.id != request.id);
        if self.owner == Some(of) {
            let length = if of.is_some() { 100 * MS } else { 40 * MS };
            let end = *self.end.get_or_insert(now + length);
            let idle =
                of.is_some() && !self.has(of) && !self.flying.iter().any(|other| who(other) == of);
            self.waits = idle.then_some(end.min(now + 8 * MS));
        }
    }

    pub fn next(&mut self, at: u64) -> Option<Request> {
        let now = at.cast_signed();
        let over =
            self.end.is_some_and(|end| now >= end) || (self.owner == Some(None) && self.had >= 16);
        let keeps = self.owner.is_some_and(|of| {
            let comes_back = of.is_some() && self.flying.iter().any(|other| who(other) == of);
            !over && (self.has(of) || self.waits.is_some_and(|until| now < until) || comes_back)
        });
        if !keeps {
            self.lose(false, now);
            let due = self
                .shares
                .iter()
                .filter(|share| share.due.is_some())
                .min_by_key(|share| share.due)?;
            self.win(due.who);
        }
        let of = self.owner?;
        if !self.has(of) {
            return None;
        }
        let foreign = self.flying.iter().any(|other| other.sync != of.is_some());
        if foreign || self.flying.iter().filter(|other| who(other) == of).count() >= 4 {
            return None;
        }
        let expiry = if of.is_some() { 125 } else { 250 } * MS as u64;
        let eldest = oldest(&self.waiting, |request| who(request) == of)?;
        let index = match self.had == 0 && self.waiting[eldest].1 + expiry <= at {
            true => eldest,
            false => self.nearest(of)?,
        };
        (self.had, self.waits) = (self.had + 1, None);
        let (request, _) = self.waiting.remove(index);
        self.head = request.end();
        self.flying.push(request);
        Some(request)
    }

    fn nearest(&self, of: Option<u64>) -> Option<usize> {
        let cost = |index: &usize| {
            let first = self.waiting[*index].0.first;
            match first >= self.head {
                true => (0, first - self.head, 0),
                false if self.head - first <= 32_768 => (0, 2 * (self.head - first), 1),
                false => (1, first, 0),
            }
        };
        let own = (0..self.waiting.len()).filter(|index| who(&self.waiting[*index].0) == of);
        own.min_by_key(|index| (cost(index), *index))
    }
}
