// SPDX-License-Identifier: GPL-2.0-only

use std::collections::VecDeque;

use super::request::{MapError, flags};

/// Values that come out in the order in which they went in, or in the opposite one.
#[derive(Debug)]
pub struct Queue {
    pub bytes: u64,
    entries: u64,
    is_stack: bool,
    values: VecDeque<Vec<u8>>,
}

impl Queue {
    pub fn new(bytes: u64, entries: u64, is_stack: bool) -> Self {
        Self { bytes, entries, is_stack, values: VecDeque::new() }
    }

    /// Puts a value in; `flags` says whether the oldest makes room for it.
    pub fn push(&mut self, value: Vec<u8>, flags: u64) -> Result<(), MapError> {
        if flags != flags::ANY && flags != flags::ONLY_OLD {
            return Err(MapError::Invalid);
        }
        if self.values.len() as u64 >= self.entries {
            if flags == flags::ANY {
                return Err(MapError::TooBig);
            }
            self.values.pop_front();
        }
        self.values.push_back(value);
        Ok(())
    }

    /// The next value, which leaves the map.
    pub fn pop(&mut self) -> Result<Vec<u8>, MapError> {
        let next = if self.is_stack { self.values.pop_back() } else { self.values.pop_front() };
        next.ok_or(MapError::Missing)
    }

    /// The next value, which stays.
    pub fn peek(&self) -> Result<Vec<u8>, MapError> {
        let next = if self.is_stack { self.values.back() } else { self.values.front() };
        next.cloned().ok_or(MapError::Missing)
    }
}
