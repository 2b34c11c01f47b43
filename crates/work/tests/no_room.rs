// SPDX-License-Identifier: GPL-2.0-only
//! If threads or processes cannot start there is a message within a second, and nothing is left.

use std::os::unix::process::CommandExt;
use std::time::Duration;

use nix::sys::resource::{Resource, setrlimit};

mod common;
use common::{Cramped, FullGroup, run, workloads};

/// The promise is one second on a machine that does nothing else; without it nothing ends for a minute.
const LIMIT: Duration = Duration::from_secs(5);

fn refused(arguments: &str, what: &str, count: u64) {
    refused_beside(0, arguments, what, count);
}

fn refused_beside(others: u64, arguments: &str, what: &str, count: u64) {
    let user = Cramped::new(30);
    let ended = run(user.workloads(arguments), LIMIT);
    let which = match user.first_refused(1 + others) {
        Some(first) => format!("{what} {first} of {count}"),
        None => String::new(),
    };
    ended.assert_sentence(1, &format!("cannot start {which}"));
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    assert_eq!(user.left(), 0);
}

#[test]
fn yielders() {
    refused("yielders --tasks 1000", "thread", 1000);
}

#[test]
fn readers() {
    refused("readers --readers 64 /proc/self/exe --seconds 60", "thread", 64);
}

#[test]
fn schbench() {
    refused("schbench --message-threads 2 --workers 500 --seconds 60", "thread", 1002);
}

#[test]
fn counters() {
    refused("counters -n 1000", "process", 1000);
}

#[test]
fn hogs() {
    let nice = vec!["0"; 100].join(",");
    refused(&format!("hogs --seconds 60 --sleeper-ms 1 --nice {nice}"), "process", 101);
}

#[test]
fn burn() {
    refused("load burn --threads 1000", "thread", 1000);
}

#[test]
fn ring() {
    refused("load process --processes 1001", "process", 1000);
}

#[test]
fn compile() {
    refused_beside(2, "load compile --threads 1000 --size-mb 1", "thread", 1000);
}

#[test]
fn the_thread_beside_a_program() {
    let user = Cramped::new(2);
    let words = "render --seconds 1 --frames-a-second 1 -- sleep 60";
    run(user.workloads(words), LIMIT).assert_sentence(1, "cannot start ");
    assert_eq!(user.left(), 0);
}

/// A process may raise its own limit of open files, up to a hard limit.
#[test]
fn open_files() {
    let hogs = format!("hogs --seconds 0.1 --nice {}", vec!["0"; 100].join(","));
    for (most, code) in [(4096, 0), (64, 1)] {
        let mut command = workloads(&hogs);
        // SAFETY: a plain system call.
        unsafe {
            command.pre_exec(move || Ok(setrlimit(Resource::RLIMIT_NOFILE, 32, most)?));
        }
        let ended = run(command, LIMIT);
        assert_eq!(ended.code(), Some(code), "{}", ended.err);
        assert_eq!(code == 0, ended.err.is_empty(), "{}", ended.err);
    }
}

/// The stress runs as root, which the limit of a user does not apply to.
#[test]
fn stress() {
    for pids in [8, 40] {
        let Some(group) = FullGroup::new(pids) else {
            eprintln!("not tested: it needs root and the control group's pids.max");
            return;
        };
        let ended = run(group.workloads("stress --seconds 60"), LIMIT);
        ended.assert_sentence(1, "cannot start ");
        ended.assert_sentence(1, "pids.max");
        assert!(group.is_empty());
    }
}
