// SPDX-License-Identifier: GPL-2.0-only
//! A program that is told to stop ends soon, and all it has started with it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use tempfile::TempDir;

mod common;
use common::workloads;

/// A limit, because a broken program would not end for an hour.
const LIMIT: Duration = Duration::from_secs(60);

fn children(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    let of = |task: &Path| fs::read_to_string(task.join("children")).unwrap_or_default();
    let lists: Vec<_> =
        tasks.into_iter().flatten().flatten().map(|task| of(&task.path())).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|id| id.parse().ok()).collect()
}

fn descendants(process: u32) -> Vec<u32> {
    let mut found = children(process);
    let mut next = 0;
    while let Some(&process) = found.get(next) {
        found.extend(children(process));
        next += 1;
    }
    found
}

/// Whether the process still runs: a zombie has ended.
fn is_there(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Waits until it has started as many `processes` and works, and checks that they all end with it.
#[track_caller]
fn stop(mut command: Command, signal: Signal, processes: usize) {
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    let began = Instant::now();
    while descendants(child.id()).len() < processes {
        assert!(began.elapsed() < LIMIT, "{command:?} has {:?}", descendants(child.id()));
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(200));
    let started = descendants(child.id());
    assert!(child.try_wait().expect("our child").is_none(), "{command:?} has ended already");
    let told = Instant::now();
    kill(Pid::from_raw(child.id().cast_signed()), signal).expect("it is there");
    let all_gone = |child: &mut std::process::Child| {
        child.try_wait().expect("our child").is_some() && !started.iter().any(|&id| is_there(id))
    };
    while !all_gone(&mut child) {
        if told.elapsed() > LIMIT {
            let left: Vec<_> = started.iter().filter(|&&id| is_there(id)).collect();
            let _ = child.kill();
            panic!("{command:?} or {left:?} goes on {LIMIT:?} after {signal}");
        }
        sleep(Duration::from_millis(5));
    }
}

fn both_ways(arguments: &str, directory: &Path, processes: usize) {
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let mut command = workloads(arguments);
        command.current_dir(directory);
        stop(command, signal, processes);
        // Files that a killed load could not remove.
        for entry in fs::read_dir(directory).expect("the directory").flatten() {
            if entry.file_name() != "calibration" && entry.file_name() != "tree" {
                let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
            }
        }
    }
}

fn prepared() -> TempDir {
    let directory = TempDir::new().expect("a directory");
    fs::write(directory.path().join("calibration"), "100000\n").expect("a calibration");
    fs::create_dir(directory.path().join("tree")).expect("a tree");
    fs::write(directory.path().join("tree/file"), vec![7; 8 << 20]).expect("a file");
    directory
}

#[test]
fn measured_programs() {
    let directory = prepared();
    for (arguments, processes) in [
        ("hogs --seconds 3600 --nice 0,5,10 --sleeper-ms 5", 4),
        ("hogs --seconds 3600 --sleeper-ms 3600000", 2),
        ("counters -n 3 --count 1000000000000", 3),
        ("yielders --tasks 50 --yields 1000000000000", 0),
        ("schbench --seconds 3600 --workers 4", 0),
        ("schbench --seconds 3600 --footprint-kb 100000", 0),
        ("periodic --task x --seconds 3600 --calibration calibration", 0),
        ("periodic --task gaming --seconds 3600 --calibration calibration", 0),
        ("readers tree/file --random-seed 1 --readers 4 --seconds 3600", 0),
        ("render --seconds 1 --frames-a-second 1 -- sleep 3600", 1),
    ] {
        both_ways(arguments, directory.path(), processes);
    }
}

#[test]
fn loads() {
    let directory = prepared();
    for (arguments, processes) in [
        ("load process --processes 8", 7),
        ("load burn --threads 4", 0),
        ("load io --size-mb 1", 0),
        ("load read --size-mb 1", 0),
        ("load compile --threads 2 --size-mb 1", 0),
        ("load video --calibration calibration", 0),
        ("load list --tree /usr", 1),
    ] {
        both_ways(arguments, directory.path(), processes);
    }
}

#[test]
fn a_load_that_is_not_ready_yet() {
    let directory = prepared();
    let mut command = workloads("load read");
    let room = nix::sys::statvfs::statvfs(directory.path()).expect("its file system");
    let free_mb = (room.blocks_available() * room.fragment_size()) >> 20;
    command.current_dir(directory.path()).arg(format!("--size-mb={}", free_mb.min(20_000) / 2));
    stop(command, Signal::SIGTERM, 0);
}

#[test]
fn packing() {
    let directory = prepared();
    for arguments in ["load ctar", "load xtar"] {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            let mut command = workloads(arguments);
            command.current_dir(TempDir::new_in(directory.path()).expect("a directory").keep());
            command.args(["--tree"]).arg(directory.path().join("tree"));
            stop(command, signal, 0);
        }
    }
}

#[test]
fn stress() {
    if !geteuid().is_root() {
        eprintln!("not tested: it needs root");
        return;
    }
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL] {
        stop(workloads("stress --seconds 3600"), signal, 6);
    }
}
