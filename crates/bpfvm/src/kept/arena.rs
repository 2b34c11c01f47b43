// SPDX-License-Identifier: GPL-2.0-only

use crate::memory::{ARENA, PAGE, Window, length};

/// Which pages of the arena a program has, or has set aside.
#[derive(Debug, Default)]
pub struct Arena {
    taken: Vec<bool>,
}

impl Arena {
    /// An arena of as many pages, of which those are taken that are in memory from the start. The first is never given
    /// out: its address would be null.
    pub fn new(pages: u64, window: &Window) -> Self {
        let pages = length(pages.min(ARENA / PAGE));
        let taken = (0..pages).map(|page| page == 0 || window.has_page(page)).collect();
        Self { taken }
    }

    /// Takes pages that lie one behind the other, from one on if it is said; returns the first.
    pub fn take(&mut self, count: usize, from: Option<usize>) -> Option<usize> {
        let first = match from {
            Some(from) => self.are_free(from, count).then_some(from)?,
            None => self.find(count)?,
        };
        self.taken[first..first + count].fill(true);
        Some(first)
    }

    /// Gives pages back.
    pub fn give_back(&mut self, first: usize, count: usize) {
        if let Some(pages) = self.taken.get_mut(first..first.saturating_add(count)) {
            pages.fill(false);
        }
    }

    pub fn pages(&self) -> usize {
        self.taken.len()
    }

    fn are_free(&self, from: usize, count: usize) -> bool {
        let pages = self.taken.get(from..from.saturating_add(count));
        pages.is_some_and(|pages| pages.iter().all(|&is_taken| !is_taken))
    }

    /// The first place with as many pages.
    fn find(&self, count: usize) -> Option<usize> {
        let mut from = 0;
        for (page, &is_taken) in self.taken.iter().enumerate() {
            if is_taken {
                from = page + 1;
            } else if page + 1 - from == count {
                return Some(from);
            }
        }
        None
    }
}
