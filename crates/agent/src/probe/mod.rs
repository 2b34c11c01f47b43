// SPDX-License-Identifier: GPL-2.0-only
//! Observes what the scheduler in charge, whichever it is, does to the workload; docs/probes.md.

mod cpus;
mod histogram;
mod object;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::protocol::Probe;
use crate::scheduler::run_time::{self, Counting, RunTime};
use crate::scheduler::sysfs;
use object::Constant;

pub use histogram::Histogram;
pub use object::AttachedProbe;

pub type Metrics = BTreeMap<String, f64>;

#[derive(Debug, Error)]
pub enum ProbeError {
    #[error("the kernel does not take the probe {name}: {reason}")]
    Rejected { name: &'static str, reason: String, log: String },
    #[error("the kernel does not count how long BPF programs run: {0}")]
    NoRunTime(std::io::Error),
    #[error("the probe {name} cannot be read: {reason}")]
    Unreadable { name: &'static str, reason: String },
}

impl ProbeError {
    /// The end of the log that explains it, empty if the error says it all.
    pub fn detail(&self) -> &str {
        match self {
            Self::Rejected { log, .. } => log,
            _ => "",
        }
    }
}

/// Probes at work. Dropping them detaches them.
pub struct Probes {
    attached: Vec<AttachedProbe>,
    /// The scheduler in charge and what its programs had used, if that is asked.
    scheduler: Option<(String, RunTime)>,
    start: Instant,
    _counting: Counting,
}

impl Probes {
    /// Attaches `wanted` to watch the tasks of the cgroup with this id, which is empty; nothing at all if none is
    /// wanted.
    ///
    /// # Errors
    /// The kernel takes one of them not; none stays attached then.
    pub fn attach(wanted: &[Probe], cgroup: u64) -> Result<Option<Self>, ProbeError> {
        // The disk's own server has that one.
        if wanted.iter().all(|&probe| probe == Probe::Requests) {
            return Ok(None);
        }
        let counting = Counting::start().map_err(ProbeError::NoRunTime)?;
        let constants: [Constant<'_>; 2] =
            [("workload_cgroup", &[cgroup]), ("usable", &cpus::usable())];
        let attached: Vec<_> = wanted
            .iter()
            .filter_map(|&probe| object::name(probe))
            .map(|name| AttachedProbe::attach(name, &constants))
            .collect::<Result<_, _>>()?;
        if wanted.contains(&Probe::Idle) {
            cpus::visit();
        }
        let ops = sysfs::read().ops;
        let asked = wanted.contains(&Probe::Scheduler) && !ops.is_empty();
        let before = if asked { run_time::of_scheduler(&ops) } else { None };
        let scheduler = before.map(|before| (ops, before));
        Ok(Some(Self { attached, scheduler, start: Instant::now(), _counting: counting }))
    }

    /// What was seen since they were attached.
    ///
    /// # Errors
    /// `Unreadable`.
    pub fn read(&self) -> Result<Metrics, ProbeError> {
        let elapsed = self.start.elapsed();
        let mut metrics = Metrics::new();
        if let Some((ops, before)) = &self.scheduler
            && let Some(now) = run_time::of_scheduler(ops)
        {
            let used = now.since(*before);
            metrics.insert("scheduler_time_s".into(), used.ns as f64 / 1e9);
            metrics.insert("scheduler_calls".into(), used.calls as f64);
        }
        let own: Vec<u32> =
            self.attached.iter().flat_map(AttachedProbe::programs).copied().collect();
        metrics.insert("probe_time_pct".into(), share(run_time::of_programs(&own), elapsed));
        for probe in &self.attached {
            metrics.extend(probe.read()?);
        }
        Ok(metrics)
    }
}

/// In percent of one CPU.
fn share(used: RunTime, elapsed: Duration) -> f64 {
    100.0 * used.ns as f64 / elapsed.as_nanos() as f64
}
