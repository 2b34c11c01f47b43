// SPDX-License-Identifier: GPL-2.0-only
//! Requests of a disk.

/// Names a request; unique among those that are queued or in flight.
pub type Id = u64;

/// Every request ends at or before this sector, 128 PiB, so that the means of distances do not
/// overflow.
pub const MOST_SECTORS: u64 = 1 << 48;

/// Names the process that submitted a request, as a process id would; elevators know nothing else
/// about it.
pub type Context = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    Read,
    Write,
}

/// The classes of ioprio_set(2), best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    RealTime,
    BestEffort,
    Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority {
    pub class: Class,
    /// 0 is the best of 8.
    pub level: u8,
}

impl Default for Priority {
    fn default() -> Self {
        Self { class: Class::BestEffort, level: 4 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    pub id: Id,
    pub direction: Direction,
    /// Whether a process waits for it: true of every read, and of writes of fsync, O_SYNC and
    /// O_DIRECT.
    pub sync: bool,
    /// The first sector; sectors have 512 bytes.
    pub first: u64,
    pub sectors: u64,
    pub context: Context,
    pub priority: Priority,
    /// Whether every request queued before it is dispatched before it, and every later one after
    /// it.
    pub barrier: bool,
}

impl Request {
    pub fn read(id: Id, context: Context, first: u64, sectors: u64) -> Self {
        let priority = Priority::default();
        Self {
            id,
            direction: Direction::Read,
            sync: true,
            first,
            sectors,
            context,
            priority,
            barrier: false,
        }
    }

    /// A write of the page cache, which no process waits for.
    pub fn write(id: Id, context: Context, first: u64, sectors: u64) -> Self {
        Self { direction: Direction::Write, sync: false, ..Self::read(id, context, first, sectors) }
    }

    /// Asks the disk to empty its write cache; it has no sectors and is a barrier.
    pub fn flush(id: Id, context: Context) -> Self {
        Self { sync: true, barrier: true, ..Self::write(id, context, 0, 0) }
    }

    /// The first sector after it.
    pub fn end(&self) -> u64 {
        self.first + self.sectors
    }

    pub fn is_flush(&self) -> bool {
        self.barrier && self.sectors == 0
    }
}
