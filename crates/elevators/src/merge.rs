// SPDX-License-Identifier: GPL-2.0-only
//! Finds waiting requests by the sectors that they touch, and keeps the parts of merged ones.

use rustc_hash::FxHashMap as HashMap;

use crate::elevator::End;
use crate::request::{Direction, Id, Request};

type Edge = (Direction, u64);

/// The merge hash of the block layer (Linux 2.5.63, drivers/block/elevator.c), for both ends.
#[derive(Debug, Default)]
pub struct Mergeable {
    waiting: HashMap<Id, Request>,
    starts: HashMap<Edge, Id>,
    ends: HashMap<Edge, Id>,
    last: Option<Id>,
    parts: HashMap<Id, Vec<Request>>,
}

impl Mergeable {
    pub fn insert(&mut self, request: Request) {
        self.waiting.insert(request.id, request);
        self.starts.insert((request.direction, request.first), request.id);
        self.ends.insert((request.direction, request.end()), request.id);
        self.last.get_or_insert(request.id);
    }

    /// Removes `id`, which is dispatched or merged away: nothing can be joined to it any more.
    pub fn remove(&mut self, id: Id) -> Option<Request> {
        let request = self.waiting.remove(&id)?;
        for (edges, sector) in [(&mut self.starts, request.first), (&mut self.ends, request.end())]
        {
            let edge = (request.direction, sector);
            if edges.get(&edge) == Some(&id) {
                edges.remove(&edge);
            }
        }
        if self.last == Some(id) {
            self.last = None;
        }
        Some(request)
    }

    /// Candidates for `new` in the kernel's order: the request that was merged last, then one that
    /// ends where `new` begins, then one that begins where `new` ends.
    pub fn candidates(&self, new: &Request) -> impl Iterator<Item = (Request, End)> {
        let last =
            self.last.map(|id| self.waiting[&id]).filter(|last| last.direction == new.direction);
        let last = last.and_then(|last| touching(&last, new).map(|end| (last, end)));
        let back =
            self.ends.get(&(new.direction, new.first)).map(|id| (self.waiting[id], End::Back));
        let front =
            self.starts.get(&(new.direction, new.end())).map(|id| (self.waiting[id], End::Front));
        last.into_iter().chain(back).chain(front)
    }

    /// The request that begins where `request` ends.
    pub fn behind(&self, request: &Request) -> Option<Request> {
        self.starts.get(&(request.direction, request.end())).map(|id| self.waiting[id])
    }

    /// The request that ends where `request` begins.
    pub fn before(&self, request: &Request) -> Option<Request> {
        self.ends.get(&(request.direction, request.first)).map(|id| self.waiting[id])
    }

    /// Notes that `waiting` has become `grown` by taking in `part`.
    pub fn grow(&mut self, waiting: &Request, grown: Request, part: &Request) {
        self.remove(waiting.id);
        let mut added = self.parts.remove(&part.id).unwrap_or_else(|| vec![*part]);
        self.parts.entry(waiting.id).or_insert_with(|| vec![*waiting]).append(&mut added);
        self.insert(grown);
        self.last = Some(grown.id);
    }

    /// Removes and returns the parts of `request` in order of sectors; the request itself if it was
    /// not merged.
    pub fn parts(&mut self, request: &Request) -> Vec<Request> {
        let mut parts = self.parts.remove(&request.id).unwrap_or_else(|| vec![*request]);
        parts.sort_by_key(|part| part.first);
        parts
    }
}

fn touching(waiting: &Request, new: &Request) -> Option<End> {
    if waiting.end() == new.first {
        Some(End::Back)
    } else if new.end() == waiting.first {
        Some(End::Front)
    } else {
        None
    }
}
