// SPDX-License-Identifier: GPL-2.0-only
//! When an actor was on which CPU, measured from inside, and how long it waited for one after each
//! sleep.

use std::time::Duration;

use nix::sched::sched_getcpu;
use serde::{Deserialize, Serialize};

use crate::figures::as_f64;
use crate::presence::GAP;

/// Most entries of each kind for one actor: at 4 ms each they last longer than 15 s.
const MOST: usize = 4000;

/// Times in milliseconds since the scene began, to the microsecond.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// (from, until, CPU)
    pub runs: Vec<(f64, f64, usize)>,
    /// (from, until): from when a sleep should have been over until it was.
    pub waits: Vec<(f64, f64)>,
    /// How many did not fit; the first are kept.
    pub lost: usize,
}

impl Timeline {
    /// Adds the timeline of another one of the same name.
    pub fn append(&mut self, other: Self) {
        let (runs, waits) =
            (MOST.saturating_sub(self.runs.len()), MOST.saturating_sub(self.waits.len()));
        self.lost += other.lost + other.runs.len().saturating_sub(runs);
        self.lost += other.waits.len().saturating_sub(waits);
        self.runs.extend(other.runs.into_iter().take(runs));
        self.waits.extend(other.waits.into_iter().take(waits));
    }
}

/// Keeps the timeline of the thread that calls it.
#[derive(Debug)]
pub struct Recorder {
    begin: Duration,
    run: Option<Run>,
    timeline: Timeline,
}

#[derive(Debug)]
struct Run {
    since: Duration,
    last: Duration,
    cpu: usize,
}

impl Recorder {
    pub fn new(begin: Duration) -> Self {
        Self { begin, run: None, timeline: Timeline::default() }
    }

    /// Notes that the actor is on a CPU at `now`, and has been since the last look if that was just
    /// before.
    pub fn look(&mut self, now: Duration) {
        if let Ok(cpu) = sched_getcpu() {
            self.look_on(cpu, now);
        }
    }

    fn look_on(&mut self, cpu: usize, now: Duration) {
        match &mut self.run {
            Some(run) if run.cpu == cpu && now.saturating_sub(run.last) <= GAP => run.last = now,
            _ => {
                self.close();
                self.run = Some(Run { since: now, last: now, cpu });
            }
        }
    }

    /// Notes that a sleep that should have been over at `due` is over at `now`.
    pub fn woke(&mut self, due: Duration, now: Duration) {
        let (due, now) = (self.ms(due), self.ms(now));
        self.keep(|timeline| &mut timeline.waits, (due, now));
    }

    pub fn timeline(mut self) -> Timeline {
        self.close();
        self.timeline
    }

    fn close(&mut self) {
        let run = self.run.take().filter(|run| run.last > run.since);
        if let Some(Run { since, last, cpu }) = run {
            let (since, last) = (self.ms(since), self.ms(last));
            self.keep(|timeline| &mut timeline.runs, (since, last, cpu));
        }
    }

    fn keep<T>(&mut self, list: impl Fn(&mut Timeline) -> &mut Vec<T>, one: T) {
        let list = list(&mut self.timeline);
        if list.len() < MOST {
            list.push(one);
        } else {
            self.timeline.lost += 1;
        }
    }

    fn ms(&self, at: Duration) -> f64 {
        as_f64(at.saturating_sub(self.begin).as_micros()) / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    fn looking(looks: impl IntoIterator<Item = (u64, usize)>) -> Timeline {
        let mut recorder = Recorder::new(us(1_000));
        for (at, cpu) in looks {
            recorder.look_on(cpu, us(at));
        }
        recorder.timeline()
    }

    #[test]
    fn short_pauses_are_the_loops_own_and_long_ones_part_two_runs() {
        let timeline = looking([(1_010, 0), (1_050, 0), (3_000, 0), (3_020, 0)]);
        assert_eq!(timeline.runs, [(0.01, 0.05, 0), (2.0, 2.02, 0)]);
    }

    #[test]
    fn another_cpu_is_another_run() {
        let timeline = looking([(1_010, 0), (1_030, 0), (1_040, 1), (1_060, 1)]);
        assert_eq!(timeline.runs, [(0.01, 0.03, 0), (0.04, 0.06, 1)]);
    }

    #[test]
    fn a_late_end_of_a_sleep_is_a_wait() {
        let mut recorder = Recorder::new(us(1_000));
        recorder.woke(us(2_000), us(2_500));
        assert_eq!(recorder.timeline().waits, [(1.0, 1.5)]);
    }

    #[test]
    fn memory_is_limited() {
        let looks = (1..10_000).flat_map(|n| [(n * 100, 0), (n * 100 + 20, 0)]);
        let timeline = looking(looks);
        assert_eq!((timeline.runs.len(), timeline.lost), (MOST, 9_999 - MOST));
    }
}
