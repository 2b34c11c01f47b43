// SPDX-License-Identifier: GPL-2.0-only
//! The scheduling settings and limits of the agent, which all that it starts inherits: work that
//! changes them would change every later sample.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use procfs::FromRead;
use procfs::process::{MountInfo, Process, Status};

use crate::sched::THIS_THREAD;

/// The settings of the calling thread and its process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instrument {
    policy: i32,
    priority: i32,
    nice: i32,
    /// CPUs as in sched_getaffinity(2), but with those that are offline.
    cpus: CpuSet,
    timer_slack_ns: i64,
    io_priority: i64,
    oom_score_adj: String,
    /// Soft and hard limits, by number.
    limits: Vec<(u64, u64)>,
    /// The control group in each hierarchy, as in /proc/self/cgroup.
    control_groups: Vec<ControlGroup>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ControlGroup {
    /// Empty for version 2.
    controllers: String,
    path: String,
}

/// A setting that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    what: String,
    was: String,
    is_now: String,
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "its {} was {}, is {}", self.what, self.was, self.is_now)
    }
}

const OOM: &str = "/proc/self/oom_score_adj";

/// Every limit that Linux has (asm-generic/resource.h).
const LIMITS: [&str; 16] = [
    "cpu",
    "fsize",
    "data",
    "stack",
    "core",
    "rss",
    "nproc",
    "nofile",
    "memlock",
    "as",
    "locks",
    "sigpending",
    "msgqueue",
    "nice",
    "rtprio",
    "rttime",
];

impl Instrument {
    /// # Errors
    /// The kernel does not show a setting.
    pub fn now() -> Result<Self> {
        let (policy, priority) = policy()?;
        Ok(Self {
            policy,
            priority,
            nice: crate::sched::nice()?,
            cpus: allowed_cpus()?,
            timer_slack_ns: timer_slack()?,
            io_priority: io_priority()?,
            oom_score_adj: fs::read_to_string(OOM).context(OOM)?.trim().to_owned(),
            limits: (0..LIMITS.len()).map(limit).collect::<Result<_>>()?,
            control_groups: control_groups()?,
        })
    }

    /// Restores the settings that have changed, as far as this process may. Returns the changes.
    ///
    /// # Errors
    /// The kernel does not show a setting.
    pub fn mend(&self) -> Result<Vec<Change>> {
        let changes = self.changes()?;
        if !changes.is_empty() {
            self.put_right()?;
        }
        Ok(changes)
    }

    /// Whether all settings are as they were.
    pub fn is_intact(&self) -> bool {
        self.changes().is_ok_and(|changes| changes.is_empty())
    }

    fn changes(&self) -> Result<Vec<Change>> {
        let now = Self::now()?;
        let mut found = Vec::new();
        let mut compare = |what: &str, was: String, is_now: String| {
            if was != is_now {
                found.push(Change { what: what.into(), was, is_now });
            }
        };
        compare("scheduling policy", named(self.policy), named(now.policy));
        compare("real-time priority", self.priority.to_string(), now.priority.to_string());
        compare("nice value", self.nice.to_string(), now.nice.to_string());
        compare("set of CPUs", listed(&self.cpus), listed(&now.cpus));
        let slack = |it: &Self| format!("{} ns", it.timer_slack_ns);
        compare("timer slack", slack(self), slack(&now));
        compare("I/O priority", self.io_priority.to_string(), now.io_priority.to_string());
        compare("oom_score_adj", self.oom_score_adj.clone(), now.oom_score_adj.clone());
        for (number, (was, is_now)) in self.limits.iter().zip(&now.limits).enumerate() {
            compare(&format!("limit {}", LIMITS[number]), shown(*was), shown(*is_now));
        }
        for was in &self.control_groups {
            let same = |other: &&ControlGroup| other.controllers == was.controllers;
            let is_now = now.control_groups.iter().find(same).map_or("gone", |it| &it.path);
            compare("control group", was.path.clone(), is_now.into());
        }
        Ok(found)
    }

    fn put_right(&self) -> Result<()> {
        let now = Self::now()?;
        let mut tried = Vec::new();
        for (number, &(soft, hard)) in self.limits.iter().enumerate() {
            if now.limits[number] != (soft, hard) {
                tried.push(set_limit(number, soft, hard));
            }
        }
        if (now.policy, now.priority) != (self.policy, self.priority) {
            let parameter = libc::sched_param { sched_priority: self.priority };
            // SAFETY: the parameter outlives the call.
            let set = unsafe { libc::sched_setscheduler(0, self.policy, &raw const parameter) };
            tried.push(Errno::result(set).map(drop).context("scheduling policy"));
        }
        if now.nice != self.nice {
            tried.push(rustix::process::setpriority_process(None, self.nice).context("nice value"));
        }
        if now.cpus != self.cpus {
            tried.push(sched_setaffinity(THIS_THREAD, &self.cpus).context("set of CPUs"));
        }
        if now.timer_slack_ns != self.timer_slack_ns {
            let slack = nix::sys::prctl::set_timerslack(self.timer_slack_ns.unsigned_abs());
            tried.push(slack.context("timer slack"));
        }
        if now.io_priority != self.io_priority {
            tried.push(set_io_priority(self.io_priority));
        }
        if now.oom_score_adj != self.oom_score_adj {
            tried.push(fs::write(OOM, &self.oom_score_adj).context(OOM));
        }
        for group in &self.control_groups {
            if !now.control_groups.contains(group) {
                tried.push(group.enter());
            }
        }
        for error in tried.into_iter().filter_map(Result::err) {
            eprintln!("runoff-agent: cannot put right what it runs with: {error:#}");
        }
        Ok(())
    }
}

fn policy() -> Result<(i32, i32)> {
    // SAFETY: plain system calls; the parameter outlives them.
    let (policy, priority) = unsafe {
        let mut parameter = libc::sched_param { sched_priority: 0 };
        Errno::result(libc::sched_getparam(0, &raw mut parameter))?;
        (Errno::result(libc::sched_getscheduler(0))?, parameter.sched_priority)
    };
    Ok((policy, priority))
}

fn named(policy: i32) -> String {
    let inherited = if policy & libc::SCHED_RESET_ON_FORK == 0 { "" } else { ", not inherited" };
    let name = match policy & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => "SCHED_OTHER",
        libc::SCHED_FIFO => "SCHED_FIFO",
        libc::SCHED_RR => "SCHED_RR",
        libc::SCHED_BATCH => "SCHED_BATCH",
        libc::SCHED_IDLE => "SCHED_IDLE",
        libc::SCHED_DEADLINE => "SCHED_DEADLINE",
        other => return format!("number {other}"),
    };
    format!("{name}{inherited}")
}

/// The allowed CPUs as in /proc, which has offline ones too, so that a CPU that goes and comes back
/// is not a change.
fn allowed_cpus() -> Result<CpuSet> {
    let online = sched_getaffinity(THIS_THREAD)?;
    let status = Status::from_file("/proc/thread-self/status")?;
    let Some(words) = status.cpus_allowed else { return Ok(online) };
    let mut cpus = CpuSet::new();
    // The most significant word comes first.
    for (index, word) in words.iter().rev().enumerate() {
        for bit in (0..32).filter(|bit| word & (1 << bit) != 0) {
            if 32 * index + bit < CpuSet::count() {
                cpus.set(32 * index + bit)?;
            }
        }
    }
    Ok(cpus)
}

fn listed(cpus: &CpuSet) -> String {
    let is_in = |cpu: usize| cpus.is_set(cpu).unwrap_or(false);
    let mut runs: Vec<String> = Vec::new();
    let mut cpu = 0;
    while cpu < CpuSet::count() {
        if is_in(cpu) {
            let first = cpu;
            while is_in(cpu + 1) {
                cpu += 1;
            }
            runs.push(if first == cpu { cpu.to_string() } else { format!("{first}-{cpu}") });
        }
        cpu += 1;
    }
    runs.join(",")
}

fn timer_slack() -> Result<i64> {
    Ok(nix::sys::prctl::get_timerslack()?.into())
}

const IOPRIO_WHO_PROCESS: i32 = 1;

fn io_priority() -> Result<i64> {
    // SAFETY: plain numbers.
    Ok(Errno::result(unsafe { libc::syscall(libc::SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0) })?)
}

fn set_io_priority(priority: i64) -> Result<()> {
    // SAFETY: plain numbers.
    let set = unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, priority) };
    Errno::result(set).context("I/O priority")?;
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "there are sixteen")]
fn limit(number: usize) -> Result<(u64, u64)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure outlives the call.
    Errno::result(unsafe { libc::getrlimit(number as u32, &raw mut limit) })?;
    Ok((limit.rlim_cur, limit.rlim_max))
}

#[expect(clippy::cast_possible_truncation, reason = "there are sixteen")]
fn set_limit(number: usize, soft: u64, hard: u64) -> Result<()> {
    let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: the structure outlives the call.
    Errno::result(unsafe { libc::setrlimit(number as u32, &raw const limit) })
        .with_context(|| format!("limit {}", LIMITS[number]))?;
    Ok(())
}

fn shown((soft, hard): (u64, u64)) -> String {
    let word = |value| match value {
        libc::RLIM_INFINITY => "unlimited".to_owned(),
        value => value.to_string(),
    };
    if soft == hard { word(soft) } else { format!("{} of {}", word(soft), word(hard)) }
}

fn control_groups() -> Result<Vec<ControlGroup>> {
    let found = Process::myself()?.cgroups()?;
    Ok(found
        .into_iter()
        .map(|it| ControlGroup { controllers: it.controllers.join(","), path: it.pathname })
        .collect())
}

impl ControlGroup {
    fn enter(&self) -> Result<()> {
        let place = self.place().with_context(|| format!("no control group {}", self.path))?;
        let procs = place.join("cgroup.procs");
        fs::write(&procs, "0").with_context(|| procs.display().to_string())
    }

    /// The directory of this group in its hierarchy.
    fn place(&self) -> Option<PathBuf> {
        let first = self.controllers.split(',').next().unwrap_or_default();
        let is_it = |mount: &MountInfo| match first {
            "" => mount.fs_type == "cgroup2",
            name => mount.fs_type == "cgroup" && mount.super_options.contains_key(name),
        };
        let mounts = Process::myself().ok()?.mountinfo().ok()?;
        let mount = mounts.into_iter().find(is_it)?;
        let inside = Path::new(&self.path).strip_prefix(&mount.root);
        let inside = inside.unwrap_or(Path::new(self.path.trim_start_matches('/')));
        Some(mount.mount_point.join(inside))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use nix::unistd::geteuid;

    use super::*;

    /// Runs `work` in a thread of its own, which has its own policy, nice value, CPUs, slack and
    /// I/O priority.
    fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        thread::spawn(work).join().unwrap()
    }

    #[test]
    fn unchanged_settings_need_no_mending() {
        let found = apart(|| Instrument::now().unwrap().mend().unwrap());
        assert_eq!(found, []);
    }

    #[test]
    fn each_change_of_a_thread_is_reported_and_put_right() {
        if !geteuid().is_root() {
            eprintln!("not tested: it needs root");
            return;
        }
        let told = apart(|| {
            let before = Instrument::now().unwrap();
            let cpus = sched_getaffinity(THIS_THREAD).unwrap();
            let one = (0..CpuSet::count()).find(|&cpu| cpus.is_set(cpu).unwrap()).unwrap();
            crate::sched::use_only(THIS_THREAD, &[one]).unwrap();
            crate::sched::set_nice(THIS_THREAD, 15).unwrap();
            crate::sched::set_policy(THIS_THREAD, crate::sched::Policy::Batch).unwrap();
            nix::sys::prctl::set_timerslack(123_456).unwrap();
            set_io_priority(3 << 13).unwrap();
            let changes = before.mend().unwrap();
            assert_eq!(Instrument::now().unwrap(), before);
            changes.iter().map(Change::to_string).collect::<Vec<_>>().join("\n")
        });
        let slack = "its timer slack was 50000 ns, is 123456 ns";
        for sentence in
            ["SCHED_OTHER, is SCHED_BATCH", "nice value was 0, is 15", slack, "I/O priority"]
        {
            assert!(told.contains(sentence), "{told}");
        }
        assert_eq!(
            told.contains("set of CPUs"),
            thread::available_parallelism().unwrap().get() > 1
        );
    }

    #[test]
    fn cpus_are_listed_in_runs() {
        let mut cpus = CpuSet::new();
        for cpu in [0, 1, 2, 5, 7, 8] {
            cpus.set(cpu).unwrap();
        }
        assert_eq!(listed(&cpus), "0-2,5,7-8");
        assert_eq!(shown((5, 5)), "5");
        assert_eq!(shown((5, libc::RLIM_INFINITY)), "5 of unlimited");
    }
}
