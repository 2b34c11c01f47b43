// SPDX-License-Identifier: GPL-2.0-only
//! The place of a sector: its cylinder, its zone's rate, its angle.

use elevators::portion;
use parameters::Settings;

/// Bytes in a sector.
pub const SECTOR_BYTES: u64 = 512;

#[derive(Debug, Clone)]
pub struct Geometry {
    pub sectors: u64,
    pub cylinders: u64,
    /// How long a revolution takes.
    pub period_ns: u64,
    zones: Vec<Zone>,
}

#[derive(Debug, Clone, Copy)]
struct Zone {
    first: u64,
    /// How long one sector takes to pass the head.
    sector_ps: u64,
    /// How long all sectors before the zone take to pass: tracks are skewed so that the
    /// head follows them without waiting.
    start_ps: u64,
}

impl Geometry {
    /// # Panics
    /// If `settings` are not those of a disk.
    pub fn new(settings: &Settings) -> Self {
        let [sectors, count] = ["sectors", "zones"].map(|name| settings.get(name));
        let [outer, inner] = ["rate_outer_kb_s", "rate_inner_kb_s"].map(|name| settings.get(name));
        let mut zones: Vec<Zone> = Vec::new();
        for index in 0..count {
            let first = portion(sectors, index, count);
            // The rate at the middle of the zone.
            let inward = 2 * index + 1;
            let rate = (outer * (2 * count - inward) + inner * inward) / (2 * count);
            let sector_ps = SECTOR_BYTES * 1_000_000_000 / rate;
            let start_ps = zones
                .last()
                .map_or(0, |last| last.start_ps + (first - last.first) * last.sector_ps);
            zones.push(Zone { first, sector_ps, start_ps });
        }
        Self {
            sectors,
            cylinders: settings.get("cylinders"),
            period_ns: 60_000_000_000 / settings.get("rpm"),
            zones,
        }
    }

    pub fn cylinder(&self, sector: u64) -> u64 {
        portion(sector, self.cylinders, self.sectors)
    }

    /// How long `count` sectors from `first` on take to pass the head, in nanoseconds.
    pub fn transfer_ns(&self, first: u64, count: u64) -> u64 {
        (self.passed_ps(first + count) - self.passed_ps(first)) / 1000
    }

    /// How many sectors from `first` on pass the head in `time_ns`.
    pub fn passing(&self, first: u64, time_ns: u64) -> u64 {
        time_ns.saturating_mul(1000) / self.zone(first).sector_ps
    }

    /// When in each revolution the sector reaches the head, in nanoseconds.
    pub fn angle_ns(&self, sector: u64) -> u64 {
        self.passed_ps(sector) / 1000 % self.period_ns
    }

    fn zone(&self, sector: u64) -> Zone {
        self.zones[self.zones.partition_point(|zone| zone.first <= sector) - 1]
    }

    fn passed_ps(&self, sector: u64) -> u64 {
        let zone = self.zone(sector);
        zone.start_ps + (sector - zone.first) * zone.sector_ps
    }
}
