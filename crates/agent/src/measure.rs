// SPDX-License-Identifier: GPL-2.0-only
//! Counters that are read before and after a command.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use nix::unistd::{SysconfVar, sysconf};
use perf_event::events::Software;
use perf_event::{Builder, Counter};

use crate::cgroup::Cgroup;
use crate::key_value::number;

/// Migrations of all tasks of a cgroup between CPUs, counted by the kernel's software event.
pub struct Migrations {
    counters: Vec<Counter>,
}

impl Migrations {
    /// `None` where the kernel or its settings do not allow the event; the metric is then absent.
    pub fn start(cgroup: &Cgroup) -> Option<Self> {
        let directory = cgroup.directory().ok()?;
        let mut counters = Vec::new();
        for cpu in 0..cpu_count() {
            let mut counter = Builder::new(Software::CPU_MIGRATIONS)
                .observe_cgroup(&directory)
                .one_cpu(cpu)
                // The kernel itself moves tasks; without this the event never counts.
                .include_kernel()
                .build()
                .ok()?;
            counter.enable().ok()?;
            counters.push(counter);
        }
        Some(Self { counters })
    }

    pub fn count(&mut self) -> Option<u64> {
        self.counters.iter_mut().map(|counter| counter.read().ok()).sum()
    }
}

/// CPUs the machine can have; their numbers are below it.
pub fn cpu_count() -> usize {
    let count = sysconf(SysconfVar::_NPROCESSORS_CONF).ok().flatten().unwrap_or(1);
    usize::try_from(count).unwrap_or(1)
}

/// Counters of the whole machine that only grow.
pub struct Machine(BTreeMap<&'static str, f64>);

impl Machine {
    /// Those that this kernel has.
    pub fn now() -> Result<Self> {
        let vmstat = fs::read_to_string("/proc/vmstat").context("cannot read /proc/vmstat")?;
        let mut counters: BTreeMap<_, _> = PAGING
            .iter()
            .filter_map(|&(metric, key)| Some((metric, number(&vmstat, key)?)))
            .collect();
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let pressure = read("/proc/pressure/io");
        counters.extend(runqueue_wait_s(&read("/proc/schedstat")).map(|s| ("runqueue_wait_s", s)));
        counters.extend(stall_s(&pressure, "some").map(|s| ("io_stall_some_s", s)));
        counters.extend(stall_s(&pressure, "full").map(|s| ("io_stall_full_s", s)));
        Ok(Self(counters))
    }

    /// How much each has grown since `before`, by metric.
    pub fn since(&self, before: &Self) -> impl Iterator<Item = (String, f64)> {
        self.0
            .iter()
            .filter_map(|(&metric, after)| Some((metric.into(), after - before.0.get(metric)?)))
    }
}

/// Metric and key of /proc/vmstat: KiB from and to disks, pages from and to the swap space.
const PAGING: [(&str, &str); 4] = [
    ("pgpgin_kb", "pgpgin"),
    ("pgpgout_kb", "pgpgout"),
    ("pswpin", "pswpin"),
    ("pswpout", "pswpout"),
];

/// Seconds that tasks have stood runnable without a CPU, from /proc/schedstat
/// (kernel/sched/stats.c, `rq_sched_info.run_delay`). `None` without CONFIG_SCHEDSTATS.
fn runqueue_wait_s(schedstat: &str) -> Option<f64> {
    /// Position of run_delay among the numbers of a cpu line in versions 15 to 17.
    const RUN_DELAY: usize = 7;
    let mut total_ns = None;
    for line in schedstat.lines().filter(|line| line.starts_with("cpu")) {
        let delay_ns: u64 = line.split_whitespace().nth(1 + RUN_DELAY)?.parse().ok()?;
        total_ns = Some(total_ns.unwrap_or(0) + delay_ns);
    }
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    total_ns.map(|ns| ns as f64 / 1e9)
}

/// Seconds of the line `kind` of a file of /proc/pressure (Documentation/accounting/psi.rst).
fn stall_s(pressure: &str, kind: &str) -> Option<f64> {
    let line = pressure.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))?;
    let total_us: f64 =
        line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()?;
    Some(total_us / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_delay_is_summed_over_cpus() {
        let text = "version 17\ntimestamp 4294\ncpu0 0 0 0 0 0 0 9 1500000000 3\ncpu1 0 0 0 0 0 0 9 500000000 3\n\
                    domain0 SMT 3 0 0\n";
        assert_eq!(runqueue_wait_s(text), Some(2.0));
        assert_eq!(runqueue_wait_s("version 17\n"), None);
    }

    #[test]
    fn a_stall_is_the_total_of_its_line() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n";
        assert_eq!(stall_s(text, "some"), Some(2.5));
        assert_eq!(stall_s(text, "full"), Some(1.0));
        assert_eq!(stall_s("", "some"), None);
    }

    #[test]
    fn what_one_look_lacks_has_no_difference() {
        let before = Machine(BTreeMap::from([("pswpin", 1.0)]));
        let after = Machine(BTreeMap::from([("pswpin", 4.0), ("pswpout", 9.0)]));
        assert_eq!(after.since(&before).collect::<Vec<_>>(), [("pswpin".into(), 3.0)]);
    }
}
