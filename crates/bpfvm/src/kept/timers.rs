// SPDX-License-Identifier: GPL-2.0-only

use std::collections::BTreeMap;

use fnv::FnvHashMap;

use crate::errno::{Errno, returned};

/// Timers in the values of maps, by their addresses.
#[derive(Debug, Default)]
pub struct Timers {
    timers: FnvHashMap<u64, Timer>,
    /// Timers that run, by the time at which they end and the order in which they were started.
    running: BTreeMap<(u64, u64), u64>,
    started: u64,
    /// The one whose function is called.
    called: Option<u64>,
}

#[derive(Debug)]
struct Timer {
    /// The address of its map.
    map: u64,
    function: Option<u64>,
    running: Option<(u64, u64)>,
    cpu: u64,
}

/// A timer that ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// In nanoseconds since the machine began.
    pub at: u64,
    /// The CPU that it was started on.
    pub cpu: u64,
    pub(crate) address: u64,
    pub(crate) map: u64,
    pub(crate) function: u64,
}

/// Why a timer does not do what is asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerError {
    Known,
    Unknown,
    /// A function of the timer waits for itself.
    Called,
}

impl TimerError {
    /// What the program gets.
    pub fn code(self) -> u64 {
        returned(match self {
            Self::Known => Errno::BUSY,
            Self::Unknown => Errno::INVAL,
            Self::Called => Errno::DEADLK,
        })
    }
}

impl Timers {
    pub fn begin(&mut self, address: u64, map: u64) -> Result<(), TimerError> {
        if self.timers.contains_key(&address) {
            return Err(TimerError::Known);
        }
        self.timers.insert(address, Timer { map, function: None, running: None, cpu: 0 });
        Ok(())
    }

    pub fn set_function(&mut self, address: u64, function: u64) -> Result<(), TimerError> {
        let timer = self.timers.get_mut(&address).ok_or(TimerError::Unknown)?;
        timer.function = Some(function);
        Ok(())
    }

    /// Starts a timer, anew if it runs.
    pub fn start(&mut self, address: u64, at: u64, cpu: u64) -> Result<(), TimerError> {
        let timer = self.timers.get_mut(&address).ok_or(TimerError::Unknown)?;
        if timer.function.is_none() {
            return Err(TimerError::Unknown);
        }
        if let Some(before) = timer.running {
            self.running.remove(&before);
        }
        self.started += 1;
        timer.running = Some((at, self.started));
        timer.cpu = cpu;
        self.running.insert((at, self.started), address);
        Ok(())
    }

    /// Stops a timer; returns whether it ran.
    pub fn cancel(&mut self, address: u64) -> Result<bool, TimerError> {
        let timer = self.timers.get_mut(&address).ok_or(TimerError::Unknown)?;
        if self.called == Some(address) {
            return Err(TimerError::Called);
        }
        let running = timer.running.take();
        Ok(running.and_then(|running| self.running.remove(&running)).is_some())
    }

    /// Forgets a timer whose value ends.
    pub fn forget(&mut self, address: u64) {
        if let Some(Timer { running: Some(running), .. }) = self.timers.remove(&address) {
            self.running.remove(&running);
        }
    }

    /// The timer that ends first.
    pub fn first(&self) -> Option<Due> {
        let (&(at, _), &address) = self.running.first_key_value()?;
        let timer = &self.timers[&address];
        Some(Due { at, cpu: timer.cpu, address, map: timer.map, function: timer.function? })
    }

    /// Takes the timer that ends first: its function is called now, until [`Self::ended`].
    pub(crate) fn take(&mut self) -> Option<Due> {
        let due = self.first()?;
        self.running.pop_first();
        self.timers.get_mut(&due.address)?.running = None;
        self.called = Some(due.address);
        Some(due)
    }

    pub(crate) fn ended(&mut self) {
        self.called = None;
    }
}
