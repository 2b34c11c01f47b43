// SPDX-License-Identifier: GPL-2.0-only
//! Counters that are read before and after a command.

use std::fs;

use nix::unistd::{SysconfVar, sysconf};
use perf_event::events::Software;
use perf_event::{Builder, Counter};

use crate::cgroup::Cgroup;

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

fn cpu_count() -> usize {
    let count = sysconf(SysconfVar::_NPROCESSORS_CONF).ok().flatten().unwrap_or(1);
    usize::try_from(count).unwrap_or(1)
}

/// Seconds that tasks of the whole machine have stood runnable without a CPU, from /proc/schedstat
/// (kernel/sched/stats.c, `rq_sched_info.run_delay`). `None` without CONFIG_SCHEDSTATS.
pub fn runqueue_wait_s() -> Option<f64> {
    parse_schedstat(&fs::read_to_string("/proc/schedstat").ok()?)
}

fn parse_schedstat(text: &str) -> Option<f64> {
    /// Position of run_delay among the numbers of a cpu line in versions 15 to 17.
    const RUN_DELAY: usize = 7;
    let mut total_ns = None;
    for line in text.lines().filter(|line| line.starts_with("cpu")) {
        let delay_ns: u64 = line.split_whitespace().nth(1 + RUN_DELAY)?.parse().ok()?;
        total_ns = Some(total_ns.unwrap_or(0) + delay_ns);
    }
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
    total_ns.map(|ns| ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_delay_is_summed_over_cpus() {
        let text = "version 17\ntimestamp 4294\ncpu0 0 0 0 0 0 0 9 1500000000 3\ncpu1 0 0 0 0 0 0 9 500000000 3\n\
                    domain0 SMT 3 0 0\n";
        assert_eq!(parse_schedstat(text), Some(2.0));
        assert_eq!(parse_schedstat("version 17\n"), None);
    }
}
