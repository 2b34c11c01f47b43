// SPDX-License-Identifier: GPL-2.0-only
//! Finds when a process was on a CPU, from inside: it looks at the clock again and again.

use std::time::Duration;

use machine::clock::now;

/// Longer pauses between two looks at the clock are time without the CPU, not the loop's own.
pub const GAP: Duration = Duration::from_micros(50);

/// How long the process was on a CPU, and its gaps.
pub struct Presence {
    end: Duration,
    last: Duration,
    there: Duration,
    longest_gap: Duration,
    gaps: u64,
}

impl Presence {
    /// Looks from `start` to `end`; a process that starts later has not had the CPU until then.
    pub fn new(start: Duration, end: Duration) -> Self {
        Self { end, last: start, there: Duration::ZERO, longest_gap: Duration::ZERO, gaps: 0 }
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
        } else {
            self.there += gap;
        }
        self.last = now;
        now < self.end
    }

    /// Notes that the process comes back from a sleep, which is not a gap.
    pub fn return_at(&mut self, now: Duration) {
        self.last = now.min(self.end);
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
    }

    #[test]
    fn a_long_pause_is_a_gap() {
        let presence = looking([1_040, 3_000, 3_020]);
        assert_eq!((presence.gaps(), presence.longest_gap()), (1, us(1_960)));
        assert_eq!(presence.there(), us(60));
    }

    #[test]
    fn a_process_that_starts_late_was_not_there_before() {
        let presence = looking([5_000, 5_030]);
        assert_eq!(presence.there(), us(30));
    }

    #[test]
    fn nothing_lasts_longer_than_the_end() {
        let mut presence = looking([8_980]);
        assert!(!presence.look_at(us(9_020)));
        assert_eq!(presence.there(), us(20));
    }

    #[test]
    fn a_sleep_is_not_a_gap() {
        let mut presence = looking([1_030]);
        presence.return_at(us(2_000));
        presence.look_at(us(2_020));
        assert_eq!((presence.gaps(), presence.there()), (0, us(50)));
    }
}
