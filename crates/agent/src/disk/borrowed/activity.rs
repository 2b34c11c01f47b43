// SPDX-License-Identifier: GPL-2.0-only
//! Counters that the kernel keeps for a disk (Linux Documentation/block/stat.rst).

use std::ops::{Add, Sub};

use block_queue::metrics::{
    DISK_BUSY_S, DISK_READ_KB, DISK_REQUESTS, DISK_SERVED, DISK_WRITTEN_KB, READ, WRITE, number,
};
use protocol::Metrics;

/// The first ten numbers of /sys/block/DISK/stat, or sums or differences of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity([u64; 10]);

const READS: usize = 0;
const READS_MERGED: usize = 1;
const SECTORS_READ: usize = 2;
const READ_MS: usize = 3;
const WRITES: usize = 4;
const WRITES_MERGED: usize = 5;
const SECTORS_WRITTEN: usize = 6;
const WRITE_MS: usize = 7;
const BUSY_MS: usize = 9;

impl Activity {
    /// The kernel's counters since the disk appeared; zeros if it has gone.
    pub fn of(disk: &str) -> Self {
        let text = std::fs::read_to_string(format!("/sys/block/{disk}/stat")).unwrap_or_default();
        Self::parse(&text)
    }

    fn parse(text: &str) -> Self {
        let mut numbers = [0; 10];
        for (number, word) in numbers.iter_mut().zip(text.split_whitespace()) {
            *number = word.parse().unwrap_or(0);
        }
        Self(numbers)
    }

    /// Metrics by name, the same ones as for a disk behind one of our elevators (docs/protocol.md).
    pub fn metrics(&self) -> Metrics {
        let number = |index: usize| number(self.0[index]);
        let served = number(READS) + number(WRITES);
        let mut metrics = Metrics::from([
            (&DISK_REQUESTS, served + number(READS_MERGED) + number(WRITES_MERGED)),
            (&DISK_SERVED, served),
            (&DISK_BUSY_S, number(BUSY_MS) / 1e3),
            (&DISK_READ_KB, number(SECTORS_READ) / 2.0),
            (&DISK_WRITTEN_KB, number(SECTORS_WRITTEN) / 2.0),
        ]);
        for (kind, waited, count) in [(&READ, READ_MS, READS), (&WRITE, WRITE_MS, WRITES)] {
            if self.0[count] > 0 {
                metrics.insert(kind.mean, number(waited) / number(count));
            }
        }
        metrics
    }
}

impl Add for Activity {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|index| self.0[index] + other.0[index]))
    }
}

impl Sub for Activity {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self(std::array::from_fn(|index| {
            let (now, then) = (self.0[index], earlier.0[index]);
            match index {
                // The kernel prints 32 bits of these times.
                READ_MS | WRITE_MS | BUSY_MS => now.wrapping_sub(then) & u64::from(u32::MAX),
                _ => now.saturating_sub(then),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_the_difference_of_two_looks() {
        let before = Activity::parse("10 1 800 50 5 0 40 10 0 60 60 0 0 0 0 0 0\n");
        let after = Activity::parse("14 2 832 58 5 0 40 10 0 67 68 0 0 0 0 0 0\n");
        let metrics = (after - before).metrics();
        let expected = [
            ("disk_busy_s", 0.007),
            ("disk_read_kb", 16.0),
            ("disk_read_mean_ms", 2.0),
            ("disk_requests", 5.0),
            ("disk_served", 4.0),
            ("disk_written_kb", 0.0),
        ];
        assert_eq!(metrics.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn milliseconds_begin_again_after_49_days() {
        let before = Activity::parse("1 0 8 4294967290 0 0 0 0 0 4294967295");
        let after = Activity::parse("2 0 16 4 0 0 0 0 0 9");
        let metrics = (after - before).metrics();
        assert_eq!((metrics.get(READ.mean), metrics.get(&DISK_BUSY_S)), (Some(10.0), Some(0.01)));
    }
}
