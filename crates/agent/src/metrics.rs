// SPDX-License-Identifier: GPL-2.0-only
//! All metrics that the agent measures, each as its crate describes it. Metrics that a workload or
//! load defines are described there.

use machine::metrics as of_machine;
use probes::metrics::{self as of_probes, Description};
use protocol::{Metric, Probe};
use serde::Serialize;

use crate::cell::metrics as of_work;

/// The metrics of samples, grouped by what a sample needs to have them.
#[derive(Debug, Serialize)]
pub struct Catalogue {
    /// Every sample has these.
    workload: &'static [&'static Metric],
    /// Samples of a workload with a server have these.
    server: &'static [&'static Metric],
    /// Samples whose work or load has a quota or a weight have those of these that apply.
    limits: &'static [&'static Metric],
    /// Samples with a load in the background have these; metrics of runoff's own loads come last.
    load: Vec<&'static Metric>,
    /// Samples on a disk that was made or borrowed have these.
    disk: &'static [&'static Metric],
    /// Samples with a probe have its metrics.
    probes: Vec<&'static Description>,
    /// Samples with a probe in the kernel, which is any but `requests`, have this one.
    probe_cost: &'static Metric,
}

/// Metrics of the workload and of the machine while it runs, in the order of a report.
static WORKLOAD: &[&Metric] = &[
    &of_work::ELAPSED_S,
    &of_work::USER_S,
    &of_work::SYSTEM_S,
    &of_work::CPU_PCT,
    &of_machine::RUNQUEUE_WAIT_S,
    &of_work::VOLUNTARY_SWITCHES,
    &of_work::INVOLUNTARY_SWITCHES,
    &of_work::MIGRATIONS,
    &of_work::MAX_RSS_KB,
    &of_machine::PGPGIN_KB,
    &of_machine::PGPGOUT_KB,
    &of_machine::PSWPIN,
    &of_machine::PSWPOUT,
    &of_machine::IO_STALL_SOME_S,
    &of_machine::IO_STALL_FULL_S,
];

/// The probe that the server of a disk has.
static REQUESTS: Description = Description {
    probe: Probe::Requests,
    title: "what became of each request of the disk, of arms with +io=",
    metrics: ublk::LOG_METRICS,
};

pub fn catalogue() -> Catalogue {
    Catalogue {
        workload: WORKLOAD,
        server: of_work::SERVER,
        limits: of_work::LIMITS,
        load: [of_work::LOAD, work::load::metrics::METRICS].concat(),
        disk: block_queue::metrics::METRICS,
        probes: of_probes::PROBES.iter().chain([&REQUESTS]).collect(),
        probe_cost: &of_probes::COST,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all() -> Vec<&'static Metric> {
        let Catalogue { workload, server, limits, load, disk, probes, probe_cost } = catalogue();
        let of_probes = probes.iter().flat_map(|probe| probe.metrics).copied();
        let others =
            [workload, server, limits].concat().into_iter().chain(load).chain(disk.iter().copied());
        others.chain(of_probes).chain([probe_cost]).collect()
    }

    #[test]
    fn a_metric_is_described_once() {
        let all = all();
        let names: BTreeSet<_> = all.iter().map(|metric| metric.name()).collect();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn every_metric_of_workload_and_machine_is_in_the_catalogue() {
        let described = [of_work::WORKLOAD, of_machine::METRICS].concat();
        let described: BTreeSet<_> = described.into_iter().collect();
        assert_eq!(WORKLOAD.iter().copied().collect::<BTreeSet<_>>(), described);
    }

    #[test]
    fn every_probe_is_described() {
        for probe in [
            Probe::Wakeups,
            Probe::Turns,
            Probe::Idle,
            Probe::Migrations,
            Probe::Scheduler,
            Probe::Requests,
        ] {
            assert_eq!(catalogue().probes.iter().filter(|each| each.probe == probe).count(), 1);
        }
    }
}
