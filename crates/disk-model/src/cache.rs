// SPDX-License-Identifier: GPL-2.0-only
//! Writes that the host sees as done but that are not on the platter yet.

use std::collections::VecDeque;

use crate::mechanics::Mechanics;

/// Writes that go to the platter in order of arrival whenever the moving parts have nothing else to
/// do.
#[derive(Debug, Clone)]
pub struct WriteCache {
    room: u64,
    waiting: VecDeque<(u64, u64)>,
    held: u64,
}

impl WriteCache {
    pub fn new(room: u64) -> Self {
        Self { room, waiting: VecDeque::new(), held: 0 }
    }

    pub fn holds(&self, first: u64, count: u64) -> bool {
        self.waiting
            .iter()
            .any(|(start, sectors)| *start <= first && first + count <= start + sectors)
    }

    pub fn sectors(&self) -> u64 {
        self.held
    }

    pub fn has_room(&self, count: u64) -> bool {
        self.held + count <= self.room
    }

    pub fn put(&mut self, first: u64, count: u64) {
        self.waiting.push_back((first, count));
        self.held += count;
    }

    /// Writes to the platter from `free_at` until `now`, and finishes the write that has begun.
    /// Returns when the parts are free.
    pub fn work_until(&mut self, now: u64, mut free_at: u64, mechanics: &mut Mechanics) -> u64 {
        while free_at < now && !self.waiting.is_empty() {
            free_at = self.write_one(free_at, mechanics);
        }
        free_at
    }

    /// Writes to the platter until there is room for `count` more sectors; with None until nothing
    /// is left.
    pub fn make_room(
        &mut self,
        count: Option<u64>,
        mut free_at: u64,
        mechanics: &mut Mechanics,
    ) -> u64 {
        let most = count.map_or(0, |count| self.room.saturating_sub(count));
        while self.held > most {
            free_at = self.write_one(free_at, mechanics);
        }
        free_at
    }

    fn write_one(&mut self, at: u64, mechanics: &mut Mechanics) -> u64 {
        let (first, count) = self.waiting.pop_front().expect("something is held");
        self.held -= count;
        at + mechanics.access(first, count, true, at).total_ns()
    }
}
