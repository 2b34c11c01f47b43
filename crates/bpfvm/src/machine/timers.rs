// SPDX-License-Identifier: GPL-2.0-only
//! Timers that end: the world says when, and they call their functions.

use super::call::Outcome;
use super::fault::Fault;
use super::state::{Machine, World};
use crate::kept::Due;
use crate::program::FUNCTION;

impl<W: World> Machine<W> {
    /// The timer that ends first.
    pub fn first_timer(&self) -> Option<Due> {
        self.timers.first()
    }

    /// Calls the function of the timer that ends first, with its map, its key and its value. None if no timer runs.
    ///
    /// # Errors
    /// The function does what it must not.
    pub fn end_timer(&mut self) -> Option<Result<Outcome, Fault>> {
        let due = self.timers.take()?;
        let called = self.call_timer(due);
        self.timers.ended();
        Some(called)
    }

    fn call_timer(&mut self, due: Due) -> Result<Outcome, Fault> {
        let number = self.program.map_at(due.map).expect("it was found when the timer began");
        let element = self.maps[number].element(due.address);
        let (key, value) = element.expect("a timer ends with its value");
        let place = self.heap.allocate(&mut self.window, key.len() as u64);
        let place = place.unwrap_or_else(|_| self.misuse("there is no memory for a key".into()));
        self.write(place, &key);
        let function = usize::try_from(due.function ^ FUNCTION).expect("it was checked");
        let outcome = self.call(function, [due.map, place, value, 0, 0]);
        if place != 0 {
            self.heap.release(place, key.len() as u64);
        }
        outcome
    }
}
