// SPDX-License-Identifier: GPL-2.0-only
//! Counts the deadlines of a task that wakes at each of them, works, and has to be done by the
//! next: interbench 0.31, periodic_schedule.

use super::latencies::Latencies;

/// The deadlines of one task. All times are in microseconds.
#[derive(Debug)]
pub struct Deadlines {
    interval: u64,
    /// When the task has to wake.
    due: u64,
    late: u64,
    pub latencies: Latencies,
    /// How often it did its work.
    pub burns: u64,
    /// How often it should have but could not.
    pub missed_burns: u64,
    pub met: u64,
    pub missed: u64,
}

impl Deadlines {
    pub fn starting_at(due: u64, interval: u64) -> Self {
        Self {
            interval,
            due,
            late: 0,
            latencies: Latencies::default(),
            burns: 0,
            missed_burns: 0,
            met: 0,
            missed: 0,
        }
    }

    pub fn due(&self) -> u64 {
        self.due
    }

    /// Notes that the task is awake. Returns whether it should work; if it is too late it waits for
    /// the next deadline.
    pub fn wake(&mut self, now: u64) -> bool {
        self.late = now.saturating_sub(self.due);
        if now <= self.due + self.interval {
            return true;
        }
        let lost = self.skip(now);
        self.missed_burns += lost;
        false
    }

    /// Notes that the task's work is done.
    pub fn worked(&mut self, now: u64) {
        self.burns += 1;
        if now <= self.due + self.interval {
            self.due += self.interval;
            self.met += 1;
            self.latencies.add(self.late);
            return;
        }
        let lost = self.skip(now);
        if lost > 1 {
            self.missed_burns += lost;
        }
    }

    /// Goes on to the first deadline that can still be met and counts the intervals that are lost.
    /// Each of them is added to the latency, so that a long delay weighs more than one short one.
    fn skip(&mut self, now: u64) -> u64 {
        self.due += self.interval;
        let lost = (now - self.due) / self.interval + 1;
        self.due += lost * self.interval;
        self.missed += lost;
        self.latencies.add(self.late + lost * self.interval);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_time() {
        let mut task = Deadlines::starting_at(1000, 100);
        assert!(task.wake(1007));
        task.worked(1100);
        assert_eq!((task.due(), task.burns, task.met, task.missed), (1100, 1, 1, 0));
        assert_eq!((task.latencies.mean_us(), task.latencies.max_us), (7.0, 7));
    }

    #[test]
    fn done_too_late_by_less_than_an_interval_costs_a_deadline_and_no_work() {
        let mut task = Deadlines::starting_at(1000, 100);
        assert!(task.wake(1050));
        task.worked(1130);
        assert_eq!((task.due(), task.met, task.missed, task.missed_burns), (1200, 0, 1, 0));
        assert_eq!(task.latencies.max_us, 150);
    }

    #[test]
    fn done_much_too_late_costs_work_too() {
        let mut task = Deadlines::starting_at(1000, 100);
        assert!(task.wake(1050));
        task.worked(1230);
        assert_eq!((task.due(), task.missed, task.missed_burns), (1300, 2, 2));
        assert_eq!(task.latencies.max_us, 250);
    }

    #[test]
    fn awake_too_late_it_does_not_work() {
        let mut task = Deadlines::starting_at(1000, 100);
        assert!(!task.wake(1101));
        assert_eq!((task.due(), task.burns, task.missed, task.missed_burns), (1200, 0, 1, 1));
        assert_eq!(task.latencies.max_us, 201);
        assert!(!task.wake(1450));
        assert_eq!((task.due(), task.missed, task.missed_burns), (1500, 3, 3));
    }
}
