// SPDX-License-Identifier: GPL-2.0-only
//! Names of things that agents make: they contain the agent, so that a later one can tell what
//! belongs to a dead one.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use procfs::process::{ProcState, Process, all_processes_with_root};
use serde::{Deserialize, Serialize};

use crate::root::Root;

/// Prefix of every such name.
pub const PREFIX: &str = "runoff-";

/// The first PID namespace of a machine, in which the processes of all others are visible
/// (include/linux/proc_ns.h, `PROC_PID_INIT_INO`).
const FIRST_NAMESPACE: u64 = 0xeffffffc;

/// One agent: process numbers are used again, but not with the same start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub pid: u32,
    /// Ticks since boot, as /proc/PID/stat has it.
    pub started: u64,
    /// The PID namespace in which it has this number: containers may share directories and control groups.
    #[serde(default = "own_namespace")]
    pub namespace: u64,
}

impl Agent {
    /// This process.
    pub fn this() -> Self {
        static THIS: OnceLock<Agent> = OnceLock::new();
        *THIS.get_or_init(|| {
            let pid = std::process::id();
            let started = started(&Root::machine(), pid).expect("this process is there");
            Self { pid, started, namespace: own_namespace() }
        })
    }

    /// Whether the agent still runs, or may still run as far as this process can see.
    pub fn is_there(self) -> bool {
        self.may_be_seen_from(&Root::machine(), own_namespace())
    }

    fn may_be_seen_from(self, root: &Root, here: u64) -> bool {
        if self.namespace == here {
            return started(root, self.pid) == Some(self.started);
        }
        here != FIRST_NAMESPACE || self.is_elsewhere(root)
    }

    /// Whether it is in the PID namespace of this process, so that its number is valid here.
    pub fn is_near(self) -> bool {
        self.namespace == own_namespace()
    }

    /// Whether its number is in use in its namespace, which is not this one. Start times are not
    /// compared: they may differ between namespaces.
    fn is_elsewhere(self, root: &Root) -> bool {
        let Ok(mut processes) = all_processes_with_root(root.at("/proc")) else { return true };
        processes.any(|process| {
            process.is_ok_and(|process| {
                namespace(&root.at(format!("/proc/{}/ns/pid", process.pid())))
                    == Some(self.namespace)
                    && innermost(&process) == Some(self.pid)
            })
        })
    }

    /// Makes a new unique name for `purpose`: "runoff-PID.START-PURPOSE-N", and outside the first
    /// PID namespace "runoff-PID.START.NAMESPACE-PURPOSE-N".
    pub fn name(self, purpose: &str) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("{self}{purpose}-{count}")
    }

    /// The agent that `name` belongs to; None unless the name is exactly of the form that agents
    /// use for one of `purposes`: a user may have a file called runoff-2026.
    pub fn of(name: &str, purposes: &[&str]) -> Option<Self> {
        let (who, rest) = name.strip_prefix(PREFIX)?.split_once('-')?;
        let mut numbers = who.split('.');
        let (pid, started) = (number(numbers.next()?)?, number(numbers.next()?)?);
        let namespace = match numbers.next() {
            Some(digits) => number(digits).filter(|&other| other != FIRST_NAMESPACE)?,
            None => FIRST_NAMESPACE,
        };
        let (purpose, count) = rest.rsplit_once('-')?;
        let agent = Self { pid, started, namespace };
        number::<u32>(count)?;
        if numbers.next().is_some() {
            return None;
        }
        purposes.contains(&purpose).then_some(agent)
    }
}

/// The beginning of every name that this agent makes.
impl fmt::Display for Agent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, started, namespace } = self;
        match *namespace {
            FIRST_NAMESPACE => write!(out, "{PREFIX}{pid}.{started}-"),
            other => write!(out, "{PREFIX}{pid}.{started}.{other}-"),
        }
    }
}

fn own_namespace() -> u64 {
    // Without /proc nothing is known about any process anyway.
    namespace(&Root::machine().at("/proc/self/ns/pid")).unwrap_or(FIRST_NAMESPACE)
}

/// The number of the namespace that a link of /proc/PID/ns leads to.
fn namespace(link: &Path) -> Option<u64> {
    Some(fs::metadata(link).ok()?.ino())
}

/// Whether this process sees the processes of all PID namespaces.
pub fn sees_all() -> bool {
    own_namespace() == FIRST_NAMESPACE
}

/// The number that a process has in its own PID namespace.
pub fn innermost(process: &Process) -> Option<u32> {
    let numbers = process.status().ok()?.nspid?;
    u32::try_from(*numbers.last()?).ok()
}

/// Parses digits without leading zeros.
fn number<Number: std::str::FromStr + fmt::Display>(digits: &str) -> Option<Number> {
    digits.parse().ok().filter(|number: &Number| number.to_string() == digits)
}

/// When process `pid` was started, in ticks since boot. None if it has ended, even if its parent
/// has not reaped it yet.
pub fn started(root: &Root, pid: u32) -> Option<u64> {
    let process = Process::new_with_root(root.at(format!("/proc/{pid}")));
    let stat = process.and_then(|process| process.stat()).ok()?;
    let has_ended = matches!(stat.state(), Ok(ProcState::Zombie | ProcState::Dead));
    (!has_ended).then_some(stat.starttime)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    #[test]
    fn only_our_names_have_an_owner() {
        let of = |name: &str| Agent::of(name, &["work", "load.log"]);
        let agent = |pid, started, namespace| Some(Agent { pid, started, namespace });
        assert_eq!(of("runoff-42.7-work-0"), agent(42, 7, FIRST_NAMESPACE));
        assert_eq!(of("runoff-42.700-load.log-13"), agent(42, 700, FIRST_NAMESPACE));
        assert_eq!(of("runoff-1.7.4026532190-work-0"), agent(1, 7, 4_026_532_190));
        let others = [
            "42",
            "2026",
            "2026-results",
            "20261001",
            "42-work",
            "042.7-work-0",
            "42.07-work-0",
            "42.7-work",
            "42.7-work-",
            "42.7-work-01",
            "42.7.4026531836-work-1",
            "42.7.-work-1",
            "42.7.8.9-work-1",
            "42.7-other-1",
            "42.-work-1",
            ".7-work-1",
            "notes",
        ];
        for other in others {
            assert_eq!(of(&format!("runoff-{other}")), None, "{other}");
        }
        assert_eq!(of("systemd-42.7-work-0"), None);
    }

    #[test]
    fn a_name_is_read_back_and_never_given_twice() {
        let this = Agent::this();
        let (one, two) = (this.name("work"), this.name("work"));
        assert_ne!(one, two);
        assert_eq!(Agent::of(&one, &["work"]), Some(this));
        assert!(one.starts_with(&this.to_string()));
    }

    #[test]
    fn a_process_that_has_ended_is_gone_before_it_is_reaped() {
        assert!(Agent::this().is_there());
        let started = |pid| started(&Root::machine(), pid);
        let mut child: Child = Command::new("true").spawn().unwrap();
        while started(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert!(Process::new(child.id().cast_signed()).is_ok());
        child.wait().unwrap();
        assert_eq!(started(child.id()), None);
    }

    #[test]
    fn only_the_first_namespace_can_tell_which_agent_of_another_is_gone() {
        let root = Root::machine();
        let other = Agent { namespace: own_namespace() + 1, ..Agent::this() };
        assert!(other.may_be_seen_from(&root, own_namespace() + 2));
        assert!(!other.may_be_seen_from(&root, FIRST_NAMESPACE));
        let name = other.name("work");
        assert_eq!(Agent::of(&name, &["work"]), Some(other));
        let elsewhere = Agent { started: 0, ..Agent::this() };
        assert!(elsewhere.is_elsewhere(&root));
    }

    #[test]
    fn another_process_of_the_same_number_is_another_agent() {
        let this = Agent::this();
        assert!(!Agent { started: this.started + 1, ..this }.is_there());
    }
}
