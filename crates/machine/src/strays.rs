// SPDX-License-Identifier: GPL-2.0-only
//! Processes that descend from this one and have left the cgroups that it made for them.
//!
//! A process that loses its parent becomes a child of this process (prctl(2),
//! PR_SET_CHILD_SUBREAPER), so a daemon cannot get away when its parents end. A process that
//! another service starts on request, as systemd does for `systemd-run`, is not a descendant and is
//! not found.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use procfs::process::{ProcState, Process, Stat, all_processes};
use rustix::process::Signal;

use crate::cgroup::Purpose;
use crate::owner::Agent;
use crate::process::{self, KILL_LIMIT};

/// Rounds of looking and killing: processes that fork meanwhile are found in the next one.
const ROUNDS: usize = 100;
const LOOK: Duration = Duration::from_millis(5);

/// The environment variable of every command that has the name of its cgroup.
pub const MARK: &str = "RUNOFF_CONTAINMENT";

/// A process outside its cgroup.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stray {
    pub pid: u32,
    pub name: String,
}

impl fmt::Display for Stray {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}[{}]", self.name, self.pid)
    }
}

/// Makes orphans among the descendants of this process its children.
///
/// # Errors
/// prctl(2) fails.
pub fn adopt_orphans() -> Result<()> {
    nix::sys::prctl::set_child_subreaper(true).context("cannot become the parent of orphans")
}

/// Ends all processes that have left the cgroup `own`, and returns them. A process whose
/// environment names another cgroup of this process is left to the end of that cgroup.
///
/// # Errors
/// A process cannot be killed.
pub fn end(own: &str) -> Result<BTreeSet<Stray>> {
    end_all(|| {
        let mut found = descendants()?;
        found.retain(|stray| !is_of_another(stray.pid, own));
        Ok(found)
    })
}

/// Ends processes that dead agents had started and that have left their cgroups, and returns them.
/// They are recognised by their environment, so a process that has cleared it is not found.
///
/// # Errors
/// A process cannot be killed.
pub fn end_left_behind() -> Result<BTreeSet<Stray>> {
    end_all(left_behind)
}

fn end_all(look: impl Fn() -> Result<BTreeSet<Stray>>) -> Result<BTreeSet<Stray>> {
    let mut found = BTreeSet::new();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        let now = look()?;
        if now.is_empty() {
            return Ok(found);
        }
        for stray in &now {
            let is_there = || look().is_ok_and(|now| now.contains(stray));
            process::signal_if(stray.pid, Signal::KILL, is_there);
        }
        found.extend(now);
        if start.elapsed() > KILL_LIMIT {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let left: Vec<_> = look()?.iter().map(Stray::to_string).collect();
    anyhow::ensure!(
        left.is_empty(),
        "{} left the control group and cannot be killed",
        left.join(", ")
    );
    Ok(found)
}

fn left_behind() -> Result<BTreeSet<Stray>> {
    let all = all_processes().context("cannot see processes")?;
    let ours = all.filter_map(|process| {
        let process = process.ok()?;
        let agent = Agent::of(&mark(&process)?, &Purpose::words())?;
        let stat = process.stat().ok()?;
        let is_alive = !matches!(stat.state(), Ok(ProcState::Zombie | ProcState::Dead));
        let stray = Stray { pid: stat.pid.cast_unsigned(), name: stat.comm };
        (is_alive && !agent.is_there()).then_some(stray)
    });
    Ok(ours.collect())
}

/// The cgroup that is named in the environment of `process`.
fn mark(process: &Process) -> Option<String> {
    let environment = process.environ().ok()?;
    Some(environment.get(OsStr::new(MARK))?.to_str()?.to_owned())
}

fn is_of_another(pid: u32, own: &str) -> bool {
    let mark = Process::new(pid.cast_signed()).ok().and_then(|process| mark(&process));
    mark.is_some_and(|mark| {
        mark != own && Agent::of(&mark, &Purpose::words()) == Some(Agent::this())
    })
}

/// All living descendants; dead ones that nothing waits for are reaped.
fn descendants() -> Result<BTreeSet<Stray>> {
    let own = std::process::id().cast_signed();
    let prefix = Agent::this().to_string();
    let stats: Vec<Stat> = all_processes()
        .context("cannot see processes")?
        .filter_map(|process| process.ok()?.stat().ok())
        .collect();
    let mut children: BTreeMap<i32, Vec<&Stat>> = BTreeMap::new();
    for stat in &stats {
        children.entry(stat.ppid).or_default().push(stat);
    }
    let mut strays = BTreeSet::new();
    let mut parents = vec![own];
    while let Some(parent) = parents.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            parents.push(child.pid);
            let pid = child.pid.cast_unsigned();
            let has_ended = matches!(child.state(), Ok(ProcState::Zombie | ProcState::Dead));
            match (has_ended, process::is_awaited(pid)) {
                (_, true) => {}
                (true, false) if parent == own => process::forget(pid),
                (true, false) => {}
                (false, false) if is_outside(pid, &prefix) => {
                    strays.insert(Stray { pid, name: child.comm.clone() });
                }
                (false, false) => {}
            }
        }
    }
    Ok(strays)
}

/// Whether thread `tid` is of a process that this one has started, however indirectly.
pub fn descends_from_us(tid: i32) -> bool {
    let own = std::process::id().cast_signed();
    let parent = |pid: &i32| Some(Process::new(*pid).ok()?.stat().ok()?.ppid);
    // Numbers may be used again between two looks; a circle would have no end.
    std::iter::successors(Some(tid), parent).skip(1).take(ROUNDS).any(|pid| pid == own)
}

/// Whether process `pid` is in a cgroup (v2) of the agent whose names begin with `prefix`, or below one.
pub fn is_within(pid: u32, prefix: &str) -> bool {
    read_cgroups(pid).is_ok_and(|text| has_component(&text, prefix))
}

/// Whether process `pid` is elsewhere. One that has ended meanwhile, and was waited for, is nowhere.
fn is_outside(pid: u32, prefix: &str) -> bool {
    read_cgroups(pid).is_ok_and(|text| !has_component(&text, prefix))
}

fn read_cgroups(pid: u32) -> io::Result<String> {
    fs::read_to_string(format!("/proc/{pid}/cgroup"))
}

fn has_component(cgroups: &str, prefix: &str) -> bool {
    let of_v2 = cgroups.lines().find_map(|line| line.strip_prefix("0::"));
    of_v2.is_some_and(|path| path.split('/').any(|part| part.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_within_a_cgroup_and_all_below_it() {
        let within = |text| has_component(text, "runoff-42.7-");
        assert!(within("12:cpu:/\n0::/runoff-42.7-workload-0\n"));
        assert!(within("0::/a/runoff-42.7-workload-0/nested/more\n"));
        assert!(!within("12:cpu:/runoff-42.7-workload-0\n0::/\n"));
        assert!(!within("0::/runoff-42.70-workload-0\n0::/system.slice\n"));
        assert!(!within(""));
    }

    #[test]
    fn a_process_that_is_gone_is_neither_within_nor_outside() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let own = std::process::id();
        for (pid, outside) in [(own, true), (child.id(), false)] {
            assert_eq!(
                (is_within(pid, "runoff-0.0-"), is_outside(pid, "runoff-0.0-")),
                (false, outside)
            );
        }
    }
}
