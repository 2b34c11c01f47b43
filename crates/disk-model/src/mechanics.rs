// SPDX-License-Identifier: GPL-2.0-only
//! The moving parts: the arm and the platter.

use parameters::Settings;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::geometry::Geometry;

/// How long the moving parts take for one piece of work, in nanoseconds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Motion {
    pub seek_ns: u64,
    pub rotation_ns: u64,
    pub transfer_ns: u64,
}

impl Motion {
    pub fn total_ns(&self) -> u64 {
        self.seek_ns + self.rotation_ns + self.transfer_ns
    }
}

#[derive(Debug, Clone)]
pub struct Mechanics {
    pub geometry: Geometry,
    settle_ns: u64,
    write_settle_ns: u64,
    root_ns: u64,
    knee_cylinders: u64,
    knee_ns: u64,
    cylinder_ps: u64,
    contiguous_ns: u64,
    /// Source of drawn rotational delays; None if the platter turns with the time.
    drawn: Option<SplitMix64>,
    cylinder: u64,
    /// Where and when the last transfer ended.
    last: Option<(u64, u64)>,
}

impl Mechanics {
    /// # Panics
    /// If `settings` are not those of a disk.
    pub fn new(settings: &Settings) -> Self {
        let us = |name| settings.get(name) * 1000;
        Self {
            geometry: Geometry::new(settings),
            settle_ns: us("seek_settle_us"),
            write_settle_ns: us("write_settle_us"),
            root_ns: settings.get("seek_root_ns"),
            knee_cylinders: settings.get("seek_knee_cylinders"),
            knee_ns: us("seek_knee_us"),
            cylinder_ps: settings.get("seek_cylinder_ps"),
            contiguous_ns: us("contiguous_us"),
            drawn: (settings.choice("rotation") == "drawn")
                .then(|| SplitMix64::seed_from_u64(settings.get("seed"))),
            cylinder: 0,
            last: None,
        }
    }

    /// Where the head is.
    pub fn cylinder(&self) -> u64 {
        self.cylinder
    }

    /// Duration of a seek over `cylinders`, in nanoseconds: the arm accelerates in short seeks, and
    /// moves at full speed in long ones (Ruemmler and Wilkes: An introduction to disk drive
    /// modeling, 1994).
    pub fn seek_ns(&self, cylinders: u64) -> u64 {
        match cylinders {
            0 => 0,
            short if short <= self.knee_cylinders => {
                // The root in thousandths, so that it is the same on every machine.
                self.settle_ns + self.root_ns * (short * 1_000_000).isqrt() / 1000
            }
            long => self.knee_ns + (long - self.knee_cylinders) * self.cylinder_ps / 1000,
        }
    }

    /// Moves to `first` and transfers `count` sectors, beginning at `now`.
    pub fn access(&mut self, first: u64, count: u64, write: bool, now: u64) -> Motion {
        let mut motion =
            Motion { transfer_ns: self.geometry.transfer_ns(first, count), ..Motion::default() };
        if !self.continues(first, now) {
            let settle = if write { self.write_settle_ns } else { 0 };
            motion.seek_ns =
                self.seek_ns(self.cylinder.abs_diff(self.geometry.cylinder(first))) + settle;
            motion.rotation_ns = self.rotation_ns(first, now + motion.seek_ns);
        }
        self.is_at(first + count, now + motion.total_ns());
        motion
    }

    /// Notes that the head has passed everything up to `sector` at the time `at`.
    pub fn is_at(&mut self, sector: u64, at: u64) {
        self.cylinder = self.geometry.cylinder(sector.min(self.geometry.sectors - 1));
        self.last = Some((sector, at));
    }

    fn continues(&self, first: u64, now: u64) -> bool {
        self.last
            .is_some_and(|(end, at)| end == first && now.saturating_sub(at) <= self.contiguous_ns)
    }

    fn rotation_ns(&mut self, sector: u64, at: u64) -> u64 {
        let period = self.geometry.period_ns;
        match &mut self.drawn {
            Some(numbers) => numbers.next_u64() % period,
            None => (self.geometry.angle_ns(sector) + period - at % period) % period,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_the_reference_sequence() {
        // Published check values for seed 1234567.
        let mut numbers = SplitMix64::seed_from_u64(1_234_567);
        assert_eq!(numbers.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(numbers.next_u64(), 3_203_168_211_198_807_973);
    }
}
