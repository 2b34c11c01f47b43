// SPDX-License-Identifier: GPL-2.0-only
//! What an actor notes, and the figures that come of it.

use std::collections::BTreeMap;
use std::time::Duration;

use scene::{MetricKind, Scene};
use serde::{Deserialize, Serialize};

use super::timeline::Timeline;
use super::times::Times;
use crate::figures::as_f64;

/// The notes of one actor, or of several of a name that followed each other.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Notes {
    /// The place of its script in the scene.
    pub script: usize,
    /// Whether its own figures are printed: only those of the first of hundreds that do the same are.
    pub is_reported: bool,
    /// Time from its beginning to its first run; the longest, if it was begun more than once.
    pub first: Duration,
    pub cpu: Duration,
    /// How late it woke.
    pub late: Times,
    /// How long it waited for others.
    pub waited: Times,
    /// How long its steps `run` took.
    pub ran: Times,
    pub longest_gap: Duration,
    pub done: u64,
    pub periods: u64,
    pub missed: u64,
    pub timeline: Option<Timeline>,
}

/// The notes of all actors by name.
pub type AllNotes = BTreeMap<String, Notes>;

pub fn merge(all: &mut AllNotes, others: AllNotes) {
    for (name, notes) in others {
        match all.get_mut(&name) {
            Some(before) => before.merge(notes),
            None => _ = all.insert(name, notes),
        }
    }
}

impl Notes {
    fn merge(&mut self, other: Self) {
        self.first = self.first.max(other.first);
        self.cpu += other.cpu;
        self.late.merge(&other.late);
        self.waited.merge(&other.waited);
        self.ran.merge(&other.ran);
        self.longest_gap = self.longest_gap.max(other.longest_gap);
        self.done += other.done;
        self.periods += other.periods;
        self.missed += other.missed;
        match (&mut self.timeline, other.timeline) {
            (Some(timeline), Some(more)) => timeline.append(more),
            (None, more) => self.timeline = more,
            (Some(_), None) => {}
        }
    }

    pub fn figures(&self) -> ActorFigures {
        ActorFigures {
            first_ms: ms(self.first),
            cpu_s: self.cpu.as_secs_f64(),
            wakes: self.late.count(),
            late_mean_ms: ms(self.late.mean()),
            late_max_ms: ms(self.late.longest()),
            runs: self.ran.count(),
            run_mean_ms: ms(self.ran.mean()),
            run_max_ms: ms(self.ran.longest()),
            waits: self.waited.count(),
            wait_mean_ms: ms(self.waited.mean()),
            wait_max_ms: ms(self.waited.longest()),
            longest_gap_ms: ms(self.longest_gap),
            done: self.done,
            missed: self.missed,
        }
    }

    fn metric(&self, kind: MetricKind, elapsed: Duration) -> f64 {
        match kind {
            MetricKind::Wake => self.late.p99().as_secs_f64() * 1e6,
            MetricKind::Missed => 100.0 * as_f64(self.missed) / as_f64(self.periods.max(1)),
            MetricKind::Wait => self.waited.p99().as_secs_f64() * 1e6,
            MetricKind::Run => ms(self.ran.mean_or_cut_off()),
            MetricKind::Done => as_f64(self.done) / elapsed.as_secs_f64(),
        }
    }
}

/// The metrics of a scene by name.
pub fn metrics(scene: &Scene, all: &AllNotes, elapsed: Duration) -> BTreeMap<String, f64> {
    let mut by_script = vec![Notes::default(); scene.scripts.len()];
    for notes in all.values() {
        by_script[notes.script].merge(notes.clone());
    }
    let of_script = |name: &str| scene.find(name).map_or(0, |(index, _)| index);
    scene::metrics(scene)
        .into_iter()
        .map(|one| {
            let value = by_script[of_script(&one.script)].metric(one.kind, elapsed);
            (one.name, value)
        })
        .collect()
}

/// The notes of an actor as they are printed.
#[derive(Debug, Serialize)]
pub struct ActorFigures {
    pub first_ms: f64,
    pub cpu_s: f64,
    /// How often it slept and woke.
    pub wakes: u64,
    pub late_mean_ms: f64,
    pub late_max_ms: f64,
    /// How many steps `run` it did.
    pub runs: u64,
    pub run_mean_ms: f64,
    pub run_max_ms: f64,
    /// How often it waited for others or a disk.
    pub waits: u64,
    pub wait_mean_ms: f64,
    pub wait_max_ms: f64,
    /// Longest time between two looks at the clock while it wanted the CPU, even while its nice
    /// value or policy was changed.
    pub longest_gap_ms: f64,
    pub done: u64,
    /// Periods of its timers that it came too late for.
    pub missed: u64,
}

fn ms(length: Duration) -> f64 {
    length.as_secs_f64() * 1e3
}
