// SPDX-License-Identifier: GPL-2.0-only
//! Agents name what they make for themselves, so that a later one can tell what belongs to one that is gone.

use procfs::process::{ProcState, Process};

/// Before the number of the agent's process.
pub const PREFIX: &str = "runoff-";

/// The agent that `name` belongs to; None unless it is exactly as an agent makes them, for one of `purposes`:
/// somebody else may call something of his own runoff-2026.
pub fn of(name: &str, purposes: &[&str]) -> Option<u32> {
    let (digits, purpose) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let agent: u32 = digits.parse().ok()?;
    (purposes.contains(&purpose) && agent.to_string() == digits).then_some(agent)
}

/// Whether that process can still do anything.
pub fn is_there(agent: u32) -> bool {
    started(agent.cast_signed()).is_some()
}

/// When it was, in ticks since boot: with this a process number means one process. None if it has ended, also when
/// nobody has heard of that yet.
pub fn started(pid: i32) -> Option<u64> {
    let stat = Process::new(pid).and_then(|process| process.stat()).ok()?;
    let has_ended = matches!(stat.state(), Ok(ProcState::Zombie | ProcState::Dead));
    (!has_ended).then_some(stat.starttime)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    #[test]
    fn only_our_names_have_an_owner() {
        let of = |name: &str| of(name, &["work", "load.log"]);
        assert_eq!(of("runoff-42-work"), Some(42));
        assert_eq!(of("runoff-42-load.log"), Some(42));
        let others =
            ["42", "2026", "2026-results", "20261001", "042-work", "42-work-2", "42-", "notes"];
        for other in others {
            assert_eq!(of(&format!("runoff-{other}")), None, "{other}");
        }
        assert_eq!(of("systemd-42-work"), None);
    }

    #[test]
    fn who_has_ended_is_not_there_before_anybody_has_asked() {
        assert!(is_there(std::process::id()));
        let mut child: Child = Command::new("true").spawn().unwrap();
        while is_there(child.id()) {
            std::thread::yield_now();
        }
        assert!(Process::new(child.id().cast_signed()).is_ok());
        child.wait().unwrap();
        assert!(!is_there(child.id()));
    }
}
