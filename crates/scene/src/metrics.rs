// SPDX-License-Identifier: GPL-2.0-only
//! What is measured of a scene: for all actors of a script together.

use serde::Serialize;

use crate::scene::Scene;
use crate::script::Script;
use crate::step::Step;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Lower,
    Higher,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// How late they woke from `sleep` and `timer`.
    Wake,
    /// Periods of `timer` that had begun before they came to wait for them.
    Missed,
    /// How long they waited for others or for a disk.
    Wait,
    /// How long their steps `run` took.
    Run,
    /// How often they came by `done`.
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metric {
    pub name: String,
    pub unit: &'static str,
    pub direction: Direction,
    pub title: String,
    /// Whether it judges arms if the workload does not say which do.
    pub headline: bool,
    #[serde(skip)]
    pub script: String,
    #[serde(skip)]
    pub kind: Kind,
}

impl Kind {
    fn of(self, script: &Script) -> Metric {
        let (name, unit, direction, title, headline) = match self {
            Self::Wake => ("wake_p99_us", "us", Direction::Lower, "wake-up latency p99", true),
            Self::Missed => ("missed_pct", "%", Direction::Lower, "periods missed", false),
            Self::Wait => ("wait_p99_us", "us", Direction::Lower, "wait p99", false),
            Self::Run => ("run_ms", "ms", Direction::Lower, "time of a run", false),
            Self::Done => ("done_per_s", "1/s", Direction::Higher, "done per second", true),
        };
        Metric {
            name: format!("{}_{name}", script.name),
            unit,
            direction,
            title: format!("{} {title}", script.name),
            headline,
            script: script.name.clone(),
            kind: self,
        }
    }
}

/// What is measured of a scene.
pub fn metrics(scene: &Scene) -> Vec<Metric> {
    scene.scripts.iter().flat_map(of_script).collect()
}

/// The metrics that the steps of a script give, in a fixed order.
fn of_script(script: &Script) -> impl Iterator<Item = Metric> {
    let has = |wanted: fn(&Step) -> bool| script.steps.iter().any(wanted);
    let kinds = [
        (Kind::Wake, has(|step| matches!(step, Step::Sleep(_) | Step::Timer(_)))),
        (Kind::Missed, has(|step| matches!(step, Step::Timer(_)))),
        (Kind::Wait, has(Step::waits_for_others)),
        (Kind::Run, has(|step| matches!(step, Step::Run(_)))),
        (Kind::Done, has(|step| matches!(step, Step::Done))),
    ];
    kinds.into_iter().filter(|&(_, is_given)| is_given).map(|(kind, _)| kind.of(script))
}
