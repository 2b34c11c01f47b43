// SPDX-License-Identifier: GPL-2.0-only
//! Counters that are read before and after a command.

use std::fs;

use anyhow::{Context, Result};
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

/// CPUs the machine can have; their numbers are below it.
pub fn cpu_count() -> usize {
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

/// What the machine has moved to and from its disks, from /proc/vmstat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paging {
    pub in_kb: i64,
    pub out_kb: i64,
    /// Pages.
    pub swapped_in: i64,
    pub swapped_out: i64,
}

impl Paging {
    pub fn now() -> Result<Self> {
        let text = fs::read_to_string("/proc/vmstat").context("cannot read /proc/vmstat")?;
        Self::parse(&text).context("/proc/vmstat lacks pgpgin, pgpgout, pswpin or pswpout")
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |key: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
            value.parse().ok()
        };
        Some(Self {
            in_kb: number("pgpgin")?,
            out_kb: number("pgpgout")?,
            swapped_in: number("pswpin")?,
            swapped_out: number("pswpout")?,
        })
    }

    pub fn since(&self, before: &Self) -> Self {
        Self {
            in_kb: self.in_kb - before.in_kb,
            out_kb: self.out_kb - before.out_kb,
            swapped_in: self.swapped_in - before.swapped_in,
            swapped_out: self.swapped_out - before.swapped_out,
        }
    }
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

    #[test]
    fn paging_is_the_difference_of_two_looks() {
        let before = Paging::parse("pgpgin 10\npgpgout 20\npswpin 0\npswpout 1\n");
        let after = Paging::parse("nr_free 9\npgpgin 15\npgpgout 20\npswpin 3\npswpout 1\n");
        let moved = after.zip(before).map(|(after, before)| after.since(&before));
        assert_eq!(moved, Some(Paging { in_kb: 5, out_kb: 0, swapped_in: 3, swapped_out: 0 }));
        assert_eq!(Paging::parse("pgpgin 1\n"), None);
    }
}
