// SPDX-License-Identifier: GPL-2.0-only
//! Agents name what they make for themselves, so that a later one can tell what belongs to one that is gone.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use procfs::process::{ProcState, Process, all_processes_with_root};
use serde::{Deserialize, Serialize};

use crate::root::Root;

/// What every name of ours begins with.
pub const PREFIX: &str = "runoff-";

/// The PID namespace that a machine begins with, from which the processes of all others are seen
/// (include/linux/proc_ns.h, `PROC_PID_INIT_INO`).
const FIRST_NAMESPACE: u64 = 0xeffffffc;

/// One process and no other: numbers are used again, a number with its start is not.
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

    /// Whether it can still do anything, or may for all that can be seen from here.
    pub fn is_there(self) -> bool {
        self.may_be_seen_from(&Root::machine(), own_namespace())
    }

    fn may_be_seen_from(self, root: &Root, here: u64) -> bool {
        if self.namespace == here {
            return started(root, self.pid) == Some(self.started);
        }
        here != FIRST_NAMESPACE || self.is_elsewhere(root)
    }

    /// Whether it is of the PID namespace of this process, where it has this number too.
    pub fn is_near(self) -> bool {
        self.namespace == own_namespace()
    }

    /// Whether its number is in use in its namespace, which is not this one. When it was started may be told otherwise
    /// there.
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

    /// A name that nothing had before, for `purpose`: "runoff-PID.START-PURPOSE-N", and in another PID namespace than
    /// the first "runoff-PID.START.NAMESPACE-PURPOSE-N".
    pub fn name(self, purpose: &str) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("{self}{purpose}-{count}")
    }

    /// The agent that `name` belongs to; None unless it is exactly as an agent makes them, for one of `purposes`:
    /// somebody else may call something of his own runoff-2026.
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

/// What the names of all that it has made begin with.
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
    // Without /proc nothing can be told of any process anyway.
    namespace(&Root::machine().at("/proc/self/ns/pid")).unwrap_or(FIRST_NAMESPACE)
}

/// The number of the namespace behind a link of /proc/PID/ns.
fn namespace(link: &Path) -> Option<u64> {
    Some(fs::metadata(link).ok()?.ino())
}

/// Whether this process sees those of all PID namespaces.
pub fn sees_all() -> bool {
    own_namespace() == FIRST_NAMESPACE
}

/// The number that a process has in its own PID namespace.
pub fn innermost(process: &Process) -> Option<u32> {
    let numbers = process.status().ok()?.nspid?;
    u32::try_from(*numbers.last()?).ok()
}

/// Digits as a number is written, without zeros before it.
fn number<Number: std::str::FromStr + fmt::Display>(digits: &str) -> Option<Number> {
    digits.parse().ok().filter(|number: &Number| number.to_string() == digits)
}

/// When process `pid` was started, in ticks since boot. None if it has ended, also when nobody has heard of that yet.
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
    fn who_has_ended_is_not_there_before_anybody_has_asked() {
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
    fn in_another_namespace_only_the_first_can_tell_who_is_gone() {
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
