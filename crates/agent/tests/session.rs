// SPDX-License-Identifier: GPL-2.0-only
//! Requests of a session, how soon it ends, and what is left when it is killed.

mod common;

use std::fs::read_to_string;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use common::{AGENT, SOON, Session, Turn, beside, cgroups, left_of, plain, runs, sample, served};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

#[test]
fn an_idle_session_ends_soon_after_a_signal() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let Some(session) = Session::start() else { return };
        session.ends_soon(signal);
    }
}

#[test]
fn a_session_whose_input_has_ended_ends() {
    let Some(mut session) = Session::start() else { return };
    drop(session.requests.take());
    assert_eq!(session.next("bye"), json!({"type": "bye"}));
    assert!(session.agent.wait().unwrap().success());
}

#[test]
fn a_session_that_prepares_runs_or_flushes_ends_soon_after_a_signal() {
    let prepares = sample("true", &["sleep 1000"], &json!({}));
    let runs = plain("trap '' TERM INT; sleep 1000; sleep 1000");
    // A writer that never stops makes a flush wait its full 10 s, twice.
    let flushes = sample("true", &[], &json!({"flush": true}));
    let serves =
        served("trap '' TERM; while :; do :; done", "sleep 0.1; false", "true", &json!({}));
    for (request, writes) in
        [(&prepares, false), (&runs, false), (&serves, false), (&flushes, true)]
    {
        for signal in [Signal::SIGTERM, Signal::SIGINT] {
            let Some(mut session) = Session::start() else { return };
            let writer = writes.then(Writer::start);
            session.ask(request);
            assert_eq!(session.event()["type"], "progress");
            std::thread::sleep(Duration::from_millis(300));
            session.ends_soon(signal);
            drop(writer);
        }
    }
}

#[test]
fn a_session_whose_load_does_not_end_ends_soon_after_a_signal() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let Some(mut session) = Session::start() else { return };
        let stays = "trap '' TERM; echo ready; while :; do :; done";
        session.ask(&beside(stays, "true"));
        while session.event()["phase"] != "run" {}
        std::thread::sleep(Duration::from_secs(1));
        session.ends_soon(signal);
    }
}

/// Writes a file of 4 MB again and again.
struct Writer {
    sh: Child,
    _place: tempfile::TempDir,
}

impl Writer {
    fn start() -> Self {
        let place = tempfile::tempdir().unwrap();
        let script = "while :; do dd if=/dev/zero of=x bs=1M count=4 conv=notrunc status=none; sleep 0.05; done";
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(place.path()).process_group(0);
        Self { sh: command.spawn().unwrap(), _place: place }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        kill(Pid::from_raw(-self.sh.id().cast_signed()), Signal::SIGKILL).unwrap();
        self.sh.wait().unwrap();
    }
}

#[test]
fn a_killed_agent_takes_its_leaders_along_and_the_next_removes_and_reports_the_rest() {
    let Some(mut session) = Session::of(Command::new(AGENT).arg("session"), Turn::alone()) else {
        return;
    };
    let leave = format!("(echo 0 >{}/cgroup.procs; exec setsid sleep 4715) &", cgroups());
    session.ask(&plain(&format!("mkdir deep; {leave} (setsid sleep 4713 &); exec sleep 4714")));
    assert_eq!(session.next("progress")["phase"], "prepare");
    let pid = session.agent.id();
    while !["sleep 4713", "sleep 4714", "sleep 4715"].into_iter().all(runs) {
        std::thread::yield_now();
    }
    session.agent.kill().unwrap();
    session.agent.wait().unwrap();
    let start = Instant::now();
    while runs("sleep 4714") {
        assert!(start.elapsed() < SOON);
    }
    // A working directory, a log directory, and a control group with the daemon.
    let left = left_of(pid);
    assert!(left.len() == 3 && runs("sleep 4713"), "{left:?}");
    let output = Command::new(AGENT).arg("sweep").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && left.iter().all(|name| told.contains(name)), "{told}");
    assert_eq!(left_of(pid), Vec::<String>::new());
    assert!(!runs("sleep 4713") && !runs("sleep 4715") && told.contains("ended sleep["));
}

#[test]
fn a_line_that_is_not_a_request_ends_the_session_with_a_message() {
    for line in ["{}", "{\"type\":\"sample\"}", "[1", "\u{0}", &"[".repeat(100_000)] {
        let Some(mut session) = Session::start() else { return };
        writeln!(session.requests.as_mut().unwrap(), "{line}").unwrap();
        assert_eq!(session.agent.wait().unwrap().code(), Some(1), "{line}");
    }
}

/// The agent as the first process of a container that shares directories and control groups with the machine.
fn contained(arguments: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc", "--kill-child", AGENT]).args(arguments);
    command
}

#[test]
fn the_agent_may_be_the_first_process_of_a_container() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let output = contained(&["--version"]).output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"runoff-agent "));
    let Some(mut session) = Session::of(&mut contained(&["session"]), Turn::shared()) else {
        return;
    };
    session.ask(&plain("true"));
    session.next("sample");
    session.end();
}

#[test]
fn directories_of_an_agent_in_another_container_are_left_alone() {
    let command = |word, inside| {
        if inside {
            return contained(&[word]);
        }
        let mut command = Command::new(AGENT);
        command.arg(word);
        command
    };
    for (works_inside, sweeps_inside) in [(true, false), (false, true), (true, true)] {
        let mut worker = command("session", works_inside);
        let Some(mut session) = Session::of(&mut worker, Turn::alone()) else { return };
        session.ask(&plain("sleep 1; echo > written && cat written"));
        for _ in 0..5 {
            let swept = command("sweep", sweeps_inside).output().unwrap();
            assert!(swept.status.success(), "{}", String::from_utf8_lossy(&swept.stderr));
            assert!(swept.stdout.is_empty(), "{}", String::from_utf8_lossy(&swept.stdout));
        }
        session.next("sample");
        session.end();
    }
}

#[test]
fn leftovers_of_a_container_that_is_gone_are_found_from_outside() {
    if !machine::owner::sees_all() {
        eprintln!("this needs the machine's first PID namespace and was not tried");
        return;
    }
    let Some(mut session) = Session::of(&mut contained(&["session"]), Turn::alone()) else {
        return;
    };
    session.ask(&plain("sleep 100"));
    while session.event()["phase"] != "run" {}
    let outside = session.agent.id();
    let children = read_to_string(format!("/proc/{outside}/task/{outside}/children")).unwrap();
    // The first process of a container takes all others with it.
    kill(Pid::from_raw(children.trim().parse().unwrap()), Signal::SIGKILL).unwrap();
    session.agent.wait().unwrap();
    let swept = Command::new(AGENT).arg("sweep").output().unwrap();
    let told = String::from_utf8_lossy(&swept.stdout);
    assert!(told.contains("runoff-1.") && told.contains("-work-"), "{told}");
}
