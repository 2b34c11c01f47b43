// SPDX-License-Identifier: GPL-2.0-only
//! Sectors that the drive reads ahead after a read.

use crate::geometry::Geometry;

/// One segment, which grows at the media rate after the end of the last read, until the next
/// command or until it is full.
#[derive(Debug, Clone)]
pub struct ReadAhead {
    pub limit: u64,
    segment: Option<Segment>,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    first: u64,
    /// How many sectors were there at `at`.
    sectors: u64,
    at: u64,
}

/// The part of a read that is in the buffer when it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Sectors of the read that are in the buffer.
    pub there: u64,
    /// Whether the drive still reads on, so that the rest follows at the media rate.
    pub goes_on: bool,
}

impl ReadAhead {
    pub fn new(limit: u64) -> Self {
        Self { limit, segment: None }
    }

    pub fn drop_all(&mut self) {
        self.segment = None;
    }

    /// Notes that a read that ends at `end` is done at `at`; `sectors` after it are in the buffer
    /// already.
    pub fn read(&mut self, end: u64, sectors: u64, at: u64) {
        self.segment = (self.limit > 0).then_some(Segment {
            first: end,
            sectors: sectors.min(self.limit),
            at,
        });
    }

    /// How many sectors from `first` on are in the buffer at `now`; None if the segment does not
    /// reach `first`.
    pub fn behind(&self, first: u64, geometry: &Geometry, now: u64) -> Option<u64> {
        let segment = self.segment?;
        let skipped = first.checked_sub(segment.first)?;
        self.filled(segment, geometry, now).checked_sub(skipped)
    }

    pub fn look_up(&self, first: u64, count: u64, geometry: &Geometry, now: u64) -> Option<Hit> {
        let there = self.behind(first, geometry, now)?;
        let goes_on =
            self.segment.is_some_and(|segment| self.filled(segment, geometry, now) < self.limit);
        Some(Hit { there: there.min(count), goes_on })
    }

    fn filled(&self, segment: Segment, geometry: &Geometry, now: u64) -> u64 {
        let on_disk = geometry.sectors.saturating_sub(segment.first);
        let passed = geometry.passing(segment.first, now.saturating_sub(segment.at));
        (segment.sectors + passed).min(self.limit).min(on_disk)
    }
}
