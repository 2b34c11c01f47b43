// SPDX-License-Identifier: GPL-2.0-only
//! Processes that descend from this one and have left the cgroups that it made for them.
//!
//! Whoever loses its parent becomes a child of this process (prctl(2), PR_SET_CHILD_SUBREAPER), so a daemon cannot get
//! away by its parents' end. What another service starts when it is asked to, as systemd does for `systemd-run`, is no
//! descendant and is not found.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use procfs::process::{ProcState, Process, Stat, all_processes};
use rustix::process::Signal;

use crate::cgroup::Purpose;
use crate::owner::Agent;
use crate::process::{self, KILL_LIMIT};

/// Rounds of looking and killing: who forks meanwhile is found in the next.
const ROUNDS: usize = 100;
const LOOK: Duration = Duration::from_millis(5);

/// What every command is told: the name of its cgroup.
pub const MARK: &str = "RUNOFF_CONTAINMENT";

/// A process outside.
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

/// From now on orphans among the descendants of this process are its children.
///
/// # Errors
/// prctl(2) fails.
pub fn adopt_orphans() -> Result<()> {
    nix::sys::prctl::set_child_subreaper(true).context("cannot become the parent of orphans")
}

/// Ends all that have left the cgroup `own`; who they were. One that tells by its environment that it is of another
/// cgroup of this process is left to whoever ends that.
///
/// # Errors
/// One of them cannot be killed.
pub fn end(own: &str) -> Result<BTreeSet<Stray>> {
    end_all(|| {
        let mut found = descendants()?;
        found.retain(|stray| !is_of_another(stray.pid, own));
        Ok(found)
    })
}

/// Ends what agents that are no longer there had started and that has left their cgroups; who that was. They are known by
/// what every command is given in its environment, so one that has cleared that is not found.
///
/// # Errors
/// One of them cannot be killed.
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

/// What the process was told when it, or one that it descends from, was started.
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

/// Those there are; the dead that nobody waits for are forgotten.
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
                (false, false) if is_within(pid, &prefix) => {}
                (false, false) => {
                    strays.insert(Stray { pid, name: child.comm.clone() });
                }
            }
        }
    }
    Ok(strays)
}

/// Whether process `pid` is in a cgroup (v2) of the agent whose names begin with `prefix`, or below one.
pub fn is_within(pid: u32, prefix: &str) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    has_component(&text, prefix)
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
}
