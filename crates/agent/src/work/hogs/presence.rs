// SPDX-License-Identifier: GPL-2.0-only
//! When a process was on a CPU, seen from inside: it looks at the clock again and again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::work::process::now;

/// Longer pauses between two looks at the clock are time without the CPU, not the loop's own.
const GAP: Duration = Duration::from_micros(50);

/// Kept of one process: at 4 ms each they last longer than 15 s.
pub const MOST_INTERVALS: usize = 4000;

/// (from, until) in milliseconds since the common start, to the microsecond.
pub type Interval = (f64, f64);

pub fn interval(from: Duration, until: Duration, start: Duration) -> Interval {
    let ms = |at: Duration| at.saturating_sub(start).as_micros() as f64 / 1e3;
    (ms(from), ms(until))
}

/// Keeps when the process was there.
pub struct Presence {
    start: Duration,
    end: Duration,
    since: Duration,
    last: Duration,
    there: Duration,
    longest_gap: Duration,
    gaps: u64,
    timeline: Timeline,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Timeline {
    pub intervals: Vec<Interval>,
    /// False if there were more than fit; the first are kept.
    pub complete: bool,
}

impl Presence {
    /// From `start` to `end`; a process that comes later has not had the CPU until then.
    pub fn new(start: Duration, end: Duration) -> Self {
        Self {
            start,
            end,
            since: start,
            last: start,
            there: Duration::ZERO,
            longest_gap: Duration::ZERO,
            gaps: 0,
            timeline: Timeline { intervals: Vec::new(), complete: true },
        }
    }

    /// Looks at the clock; false when the end has come.
    pub fn look(&mut self) -> bool {
        self.look_at(now())
    }

    fn look_at(&mut self, now: Duration) -> bool {
        let now = now.min(self.end);
        let gap = now.saturating_sub(self.last);
        self.longest_gap = self.longest_gap.max(gap);
        if gap > GAP {
            self.gaps += 1;
            self.close();
            self.since = now;
        } else {
            self.there += gap;
        }
        self.last = now;
        now < self.end
    }

    /// It comes back of its own will, after a sleep: what was before is no gap.
    pub fn return_at(&mut self, now: Duration) {
        self.close();
        self.since = now.min(self.end);
        self.last = self.since;
    }

    fn close(&mut self) {
        if self.last > self.since {
            if self.timeline.intervals.len() < MOST_INTERVALS {
                self.timeline.intervals.push(interval(self.since, self.last, self.start));
            } else {
                self.timeline.complete = false;
            }
        }
        self.since = self.last;
    }

    /// Time on a CPU so far.
    pub fn there(&self) -> Duration {
        self.there
    }

    pub fn longest_gap(&self) -> Duration {
        self.longest_gap
    }

    pub fn gaps(&self) -> u64 {
        self.gaps
    }

    pub fn timeline(mut self) -> Timeline {
        self.close();
        self.timeline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    fn looking(times_us: impl IntoIterator<Item = u64>) -> Presence {
        let mut presence = Presence::new(us(1_000), us(9_000));
        for at in times_us {
            presence.look_at(us(at));
        }
        presence
    }

    #[test]
    fn short_pauses_are_the_loops_own() {
        let presence = looking([1_010, 1_050, 1_090]);
        assert_eq!((presence.gaps(), presence.there()), (0, us(90)));
        assert_eq!(presence.timeline().intervals, [(0.0, 0.09)]);
    }

    #[test]
    fn a_long_pause_parts_two_intervals() {
        let presence = looking([1_040, 3_000, 3_020]);
        assert_eq!((presence.gaps(), presence.longest_gap()), (1, us(1_960)));
        assert_eq!(presence.timeline().intervals, [(0.0, 0.04), (2.0, 2.02)]);
    }

    #[test]
    fn who_comes_late_was_not_there_before() {
        let presence = looking([5_000, 5_030]);
        assert_eq!(presence.there(), us(30));
        assert_eq!(presence.timeline().intervals, [(4.0, 4.03)]);
    }

    #[test]
    fn nothing_lasts_longer_than_the_end() {
        let mut presence = looking([8_980]);
        assert!(!presence.look_at(us(9_020)));
        assert_eq!(presence.timeline().intervals, [(7.98, 8.0)]);
    }

    #[test]
    fn a_sleep_is_no_gap() {
        let mut presence = looking([1_030]);
        presence.return_at(us(2_000));
        presence.look_at(us(2_020));
        assert_eq!((presence.gaps(), presence.there()), (0, us(50)));
        assert_eq!(presence.timeline().intervals, [(0.0, 0.03), (1.0, 1.02)]);
    }

    #[test]
    fn memory_is_limited() {
        assert!(looking([1_010]).timeline().complete);
        let mut presence = Presence::new(us(0), Duration::from_secs(10));
        for n in 1..10_000 {
            presence.look_at(us(n * 100));
            presence.look_at(us(n * 100 + 20));
        }
        let timeline = presence.timeline();
        assert_eq!((timeline.intervals.len(), timeline.complete), (MOST_INTERVALS, false));
    }
}
