// SPDX-License-Identifier: GPL-2.0-only
//! The scheduling settings and limits of the agent, which all that it starts inherits: work that
//! changes them would change every later sample.

mod attributes;
mod limits;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use procfs::FromRead;
use procfs::process::{MountInfo, Process, Status};
use serde::{Deserialize, Serialize};

use self::attributes::Attributes;
use crate::sched::THIS_THREAD;

/// The settings of the calling thread and its process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instrument {
    attributes: Attributes,
    /// CPUs as in sched_getaffinity(2), but with those that are offline.
    cpus: Vec<usize>,
    timer_slack_ns: i64,
    io_priority: i64,
    oom_score_adj: String,
    /// Soft and hard limits, by number.
    limits: Vec<(u64, u64)>,
    /// The control group in each hierarchy, as in /proc/self/cgroup.
    control_groups: Vec<ControlGroup>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

impl Instrument {
    /// # Errors
    /// The kernel does not show a setting.
    pub fn now() -> Result<Self> {
        Ok(Self {
            attributes: Attributes::now()?,
            cpus: allowed_cpus()?,
            timer_slack_ns: timer_slack()?,
            io_priority: io_priority()?,
            oom_score_adj: fs::read_to_string(OOM).context(OOM)?.trim().to_owned(),
            limits: limits::read()?,
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

    /// To be called where the kernel's slice was changed: without it this process would look as if it
    /// had asked for the one before.
    ///
    /// # Errors
    /// The kernel does not show a setting.
    pub fn take_kernels_slice(&self) -> Result<()> {
        self.attributes.take_kernels_slice()
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
        for ((what, was), (_, is_now)) in
            self.attributes.list().into_iter().zip(now.attributes.list())
        {
            compare(what, was, is_now);
        }
        compare("set of CPUs", listed(&self.cpus), listed(&now.cpus));
        let slack = |it: &Self| format!("{} ns", it.timer_slack_ns);
        compare("timer slack", slack(self), slack(&now));
        compare("I/O priority", self.io_priority.to_string(), now.io_priority.to_string());
        compare("oom_score_adj", self.oom_score_adj.clone(), now.oom_score_adj.clone());
        for (name, (was, is_now)) in limits::NAMES.iter().zip(self.limits.iter().zip(&now.limits)) {
            compare(&format!("limit {name}"), limits::show(*was), limits::show(*is_now));
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
                tried.push(limits::set(number, soft, hard));
            }
        }
        if now.attributes != self.attributes {
            tried.push(self.attributes.set());
        }
        if now.cpus != self.cpus {
            tried.push(use_cpus(&self.cpus).context("set of CPUs"));
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

/// The allowed CPUs as in /proc, which has offline ones too, so that a CPU that goes and comes back
/// is not a change.
fn allowed_cpus() -> Result<Vec<usize>> {
    let status = Status::from_file("/proc/thread-self/status")?;
    let Some(words) = status.cpus_allowed else {
        let online = sched_getaffinity(THIS_THREAD)?;
        return Ok((0..CpuSet::count())
            .filter(|&cpu| online.is_set(cpu).unwrap_or(false))
            .collect());
    };
    // The most significant word comes first.
    let bits = words.iter().rev().enumerate().flat_map(|(index, word)| {
        (0..32).filter(move |bit| word & (1 << bit) != 0).map(move |bit| 32 * index + bit)
    });
    Ok(bits.filter(|&cpu| cpu < CpuSet::count()).collect())
}

fn use_cpus(cpus: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu)?;
    }
    Ok(sched_setaffinity(THIS_THREAD, &set)?)
}

/// The CPUs as in `0-2,5`.
fn listed(cpus: &[usize]) -> String {
    let runs = cpus.chunk_by(|one, next| one + 1 == *next);
    let show = |run: &[usize]| match run {
        [only] => only.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    runs.map(show).collect::<Vec<_>>().join(",")
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
            crate::sched::set_slice(std::time::Duration::from_millis(100)).unwrap();
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
    fn another_agent_begins_as_the_first_one_did() {
        let told = apart(|| {
            let first = serde_json::to_string(&Instrument::now().unwrap()).unwrap();
            nix::sys::prctl::set_timerslack(123_456).unwrap();
            let known: Instrument = serde_json::from_str(&first).unwrap();
            let changes = known.mend().unwrap();
            assert!(known.is_intact());
            changes.iter().map(Change::to_string).collect::<Vec<_>>()
        });
        assert_eq!(told, ["its timer slack was 50000 ns, is 123456 ns"]);
    }

    #[test]
    fn cpus_are_listed_in_runs() {
        assert_eq!(listed(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(listed(&[]), "");
    }
}
