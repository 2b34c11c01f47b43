// SPDX-License-Identifier: GPL-2.0-only
//! Observes what any scheduler in charge does to the workload; docs/probes.md.

mod cpus;
mod error;
mod histogram;
pub mod metrics;
mod object;
mod real;

use std::time::{Duration, Instant};

use bpf::run_time::{self, Counting, RunTime};
use metrics::{COST, SCHEDULER_CALLS, SCHEDULER_TIME_S};
use object::Constant;
use protocol::{Metrics, Probe};
use real::real;

pub use error::ProbeError;
pub use histogram::Histogram;
pub use object::AttachedProbe;

/// Attached probes. Dropping them detaches them.
pub struct Probes {
    attached: Vec<AttachedProbe>,
    /// The scheduler in charge and the time that its programs had used, if that is wanted.
    scheduler: Option<(String, RunTime)>,
    start: Instant,
    _counting: Counting,
}

impl Probes {
    /// Attaches the probes `wanted`, which watch the tasks of the cgroup with this id and those in it,
    /// and the scheduler in charge, `ops`, which is an empty string for the kernel's own. Returns
    /// None if no probe is wanted.
    ///
    /// # Errors
    /// The kernel refuses one of them; then none stays attached.
    pub fn attach(wanted: &[Probe], cgroup: u64, ops: &str) -> Result<Option<Self>, ProbeError> {
        // The disk's own server has that probe.
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
        let asked = wanted.contains(&Probe::Scheduler) && !ops.is_empty();
        let before = if asked { run_time::of_scheduler(ops) } else { None };
        let scheduler = before.map(|before| (ops.to_owned(), before));
        Ok(Some(Self { attached, scheduler, start: Instant::now(), _counting: counting }))
    }

    /// The metrics since the probes were attached.
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
            metrics.insert(&SCHEDULER_TIME_S, real(used.ns) / 1e9);
            metrics.insert(&SCHEDULER_CALLS, real(used.calls));
        }
        let own: Vec<u32> =
            self.attached.iter().flat_map(AttachedProbe::programs).copied().collect();
        metrics.insert(&COST, share(run_time::of_programs(&own), elapsed));
        for probe in &self.attached {
            metrics.merge(probe.read()?);
        }
        Ok(metrics)
    }
}

/// The time used, in percent of one CPU.
fn share(used: RunTime, elapsed: Duration) -> f64 {
    100.0 * real(used.ns) / (elapsed.as_secs_f64() * 1e9)
}
