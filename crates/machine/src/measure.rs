// SPDX-License-Identifier: GPL-2.0-only
//! Counters that are read before and after a command.

use std::collections::BTreeMap;
use std::fs::{self, File};

use anyhow::{Context, Result};
use perf_event::events::Software;
use perf_event::{Builder, Counter};
use procfs::{FromRead, IoPressure, VmStat};
use protocol::Metric;

use crate::cgroup::Cgroup;
use crate::cpus;
use crate::metrics::{
    IO_STALL_FULL_S, IO_STALL_SOME_S, PGPGIN_KB, PGPGOUT_KB, PSWPIN, PSWPOUT, RUNQUEUE_WAIT_S,
};
use crate::root::Root;

/// Migrations of all tasks of a cgroup between CPUs, counted by the kernel's software event on every CPU that is online
/// when the count starts.
///
/// The count is whole only if no other CPU comes online meanwhile. A CPU that is switched off has
/// counted until then; that it was switched off and on again is not noticed.
pub struct Migrations {
    counters: BTreeMap<usize, Counter>,
}

impl Migrations {
    /// `None` where the kernel or its settings do not allow the event; the metric is then absent.
    pub fn start(cgroup: &Cgroup) -> Option<Self> {
        Self::on(&cpus::online(), &cgroup.directory().ok()?)
    }

    fn on(online: &[usize], cgroup: &File) -> Option<Self> {
        let mut counters = BTreeMap::new();
        for &cpu in online {
            let mut counter = Builder::new(Software::CPU_MIGRATIONS)
                .observe_cgroup(cgroup)
                .one_cpu(cpu)
                // The kernel itself moves tasks; without this the event never counts.
                .include_kernel()
                .build()
                .ok()?;
            counter.enable().ok()?;
            counters.insert(cpu, counter);
        }
        Some(Self { counters })
    }

    /// `None` if a CPU is online that was not at the start: its migrations were not counted.
    pub fn count(&mut self) -> Option<u64> {
        self.count_of(&cpus::online())
    }

    fn count_of(&mut self, online: &[usize]) -> Option<u64> {
        let whole = online.iter().all(|cpu| self.counters.contains_key(cpu));
        whole.then(|| self.counters.values_mut().map(|counter| counter.read().ok()).sum())?
    }
}

/// Counters of the whole machine that only grow.
pub struct Machine(BTreeMap<&'static Metric, f64>);

impl Machine {
    /// The counters of this machine that its kernel has.
    ///
    /// # Errors
    /// There is no /proc/vmstat.
    pub fn now() -> Result<Self> {
        Self::at(&Root::machine())
    }

    /// The counters of the machine whose files are below `root`.
    ///
    /// # Errors
    /// There is no /proc/vmstat.
    pub fn at(root: &Root) -> Result<Self> {
        let VmStat(vmstat) = VmStat::from_file(root.at("/proc/vmstat"))
            .context("cannot read the paging counters")?;
        let mut counters: BTreeMap<_, _> = PAGING
            .iter()
            .filter_map(|&(metric, key)| {
                Some((metric, exactly(u64::try_from(*vmstat.get(key)?).ok()?)))
            })
            .collect();
        // Kernels without CONFIG_PSI or CONFIG_SCHEDSTATS have none of these.
        if let Ok(stalls) = IoPressure::from_file(root.at("/proc/pressure/io")) {
            counters.insert(&IO_STALL_SOME_S, exactly(stalls.some.total) / 1e6);
            counters.insert(&IO_STALL_FULL_S, exactly(stalls.full.total) / 1e6);
        }
        let schedstat = fs::read_to_string(root.at("/proc/schedstat")).unwrap_or_default();
        counters.extend(runqueue_wait_s(&schedstat).map(|s| (&RUNQUEUE_WAIT_S, s)));
        Ok(Self(counters))
    }

    /// How much each has grown since `before`, by metric.
    pub fn since(&self, before: &Self) -> impl Iterator<Item = (&'static Metric, f64)> {
        self.0.iter().filter_map(|(&metric, after)| Some((metric, after - before.0.get(metric)?)))
    }
}

/// Metric and key of /proc/vmstat: KiB from and to disks, pages from and to the swap space.
static PAGING: [(&Metric, &str); 4] =
    [(&PGPGIN_KB, "pgpgin"), (&PGPGOUT_KB, "pgpgout"), (&PSWPIN, "pswpin"), (&PSWPOUT, "pswpout")];

/// Seconds that tasks have stood runnable without a CPU, from /proc/schedstat
/// (kernel/sched/stats.c, `rq_sched_info.run_delay`). `None` without CONFIG_SCHEDSTATS.
pub fn runqueue_wait_s(schedstat: &str) -> Option<f64> {
    /// Position of run_delay among the numbers of a cpu line in versions 15 to 17.
    const RUN_DELAY: usize = 7;
    let mut total_ns = None;
    for line in schedstat.lines().filter(|line| line.starts_with("cpu")) {
        let delay_ns: u64 = line.split_whitespace().nth(1 + RUN_DELAY)?.parse().ok()?;
        total_ns = Some(total_ns.unwrap_or(0_u64).checked_add(delay_ns)?);
    }
    total_ns.map(|ns| exactly(ns) / 1e9)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "2^53 ns are 104 days, 2^53 KiB or pages far more than any disk"
)]
fn exactly(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use tempfile::TempDir;

    use super::*;
    use crate::metrics::METRICS;

    #[test]
    fn run_delay_is_summed_over_cpus() {
        let text = "version 17\ntimestamp 4294\ncpu0 0 0 0 0 0 0 9 1500000000 3\ncpu1 0 0 0 0 0 0 9 500000000 3\n\
                    domain0 SMT 3 0 0\n";
        assert_eq!(runqueue_wait_s(text), Some(2.0));
        assert_eq!(runqueue_wait_s("version 17\n"), None);
        let most = format!("cpu0 0 0 0 0 0 0 9 {} 3\n", u64::MAX);
        assert_eq!(runqueue_wait_s(&most.repeat(2)), None);
    }

    fn below(files: &[(&str, &str)]) -> (TempDir, Root) {
        let directory = TempDir::new().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::below(directory.path());
        (directory, root)
    }

    const VMSTAT: (&str, &str) =
        ("proc/vmstat", "nr_free_pages 7\npgpgin 20\npgpgout 30\npswpin 4\npswpout 5\n");

    #[test]
    fn all_counters_of_a_kernel_are_read() {
        let (_directory, root) = below(&[
            VMSTAT,
            ("proc/schedstat", "version 17\ncpu0 0 0 0 0 0 0 9 1500000000 3\n"),
            (
                "proc/pressure/io",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n\
                 full avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n",
            ),
        ]);
        let counters = Machine::at(&root).unwrap().0;
        let expected = [
            ("io_stall_full_s", 1.0),
            ("io_stall_some_s", 2.5),
            ("pgpgin_kb", 20.0),
            ("pgpgout_kb", 30.0),
            ("pswpin", 4.0),
            ("pswpout", 5.0),
            ("runqueue_wait_s", 1.5),
        ];
        let found: Vec<_> =
            counters.iter().map(|(metric, number)| (metric.name(), *number)).collect();
        assert_eq!(found, expected);
        assert_eq!(
            counters.keys().copied().collect::<BTreeSet<_>>(),
            METRICS.iter().copied().collect()
        );
    }

    #[test]
    fn counters_that_a_kernel_lacks_are_absent() {
        let (_directory, root) = below(&[("proc/vmstat", "pgpgin 20\n")]);
        assert_eq!(Machine::at(&root).unwrap().0, BTreeMap::from([(&PGPGIN_KB, 20.0)]));
        let (_directory, root) = below(&[]);
        let error = format!("{:#}", Machine::at(&root).err().unwrap());
        assert!(error.contains("proc/vmstat"), "{error}");
    }

    #[test]
    fn this_machine_has_counters() {
        assert!(Machine::now().unwrap().0.contains_key(&PGPGIN_KB));
    }

    /// Any cgroup of version 2; None if there is none, or no right to count.
    fn group() -> Option<File> {
        let group = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
            .iter()
            .find(|path| Path::new(path).join("cgroup.controllers").exists())
            .and_then(|path| File::open(path).ok())?;
        let counts = Migrations::on(&[0], &group).is_some();
        counts.then_some(group).or_else(|| {
            eprintln!("not tested: this kernel or its settings do not allow the event");
            None
        })
    }

    #[test]
    fn a_cpu_that_is_not_online_is_not_counted() {
        let Some(group) = group() else { return };
        assert!(Migrations::on(&[cpus::count()], &group).is_none());
        assert!(Migrations::on(&cpus::online(), &group).unwrap().count().is_some());
    }

    #[test]
    fn a_count_is_whole_or_absent() {
        let Some(group) = group() else { return };
        let mut migrations = Migrations::on(&[0], &group).unwrap();
        assert!(migrations.count_of(&[0]).is_some());
        assert_eq!(migrations.count_of(&[0, 1]), None, "CPU 1 came later");
        assert!(migrations.count_of(&[]).is_some(), "CPU 0 was switched off");
    }

    #[test]
    #[ignore = "switches the last CPU off for a moment"]
    fn migrations_are_counted_beside_a_cpu_that_is_off() {
        let group = group().expect("the event");
        let last = *cpus::online().last().unwrap();
        let switch = format!("/sys/devices/system/cpu/cpu{last}/online");
        let mut both = Migrations::on(&cpus::online(), &group).unwrap();
        fs::write(&switch, "0").unwrap();
        let mut others = Migrations::on(&cpus::online(), &group);
        let counted_to_the_end = both.count();
        fs::write(&switch, "1").unwrap();
        assert!(counted_to_the_end.is_some());
        assert_eq!(others.as_mut().unwrap().count(), None);
    }

    #[test]
    fn a_counter_that_was_read_only_once_has_no_difference() {
        let before = Machine(BTreeMap::from([(&PSWPIN, 1.0)]));
        let after = Machine(BTreeMap::from([(&PSWPIN, 4.0), (&PSWPOUT, 9.0)]));
        assert_eq!(after.since(&before).collect::<Vec<_>>(), [(&PSWPIN, 3.0)]);
    }
}
