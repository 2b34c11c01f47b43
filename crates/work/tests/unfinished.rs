// SPDX-License-Identifier: GPL-2.0-only
//! contest's own accounting of a load: a program that was killed in the middle of a pass has used no CPU time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

mod common;
use common::workloads;

const LIMIT: Duration = Duration::from_secs(60);

/// A tar that uses CPU time and then makes an archive if it is the first one; the next one goes on
/// until it is killed.
const TAR: &str = "#!/bin/sh
n=0; while [ $n -lt 300000 ]; do n=$((n+1)); done
if [ -e whole ]; then
    touch endless; while :; do :; done
fi
touch whole load.tar
";

/// The load with `TAR` for its tar.
fn start(directory: &Path) -> Child {
    let tar = directory.join("tar");
    fs::write(&tar, TAR).expect("a program");
    fs::set_permissions(&tar, fs::Permissions::from_mode(0o755)).expect("its mode");
    fs::create_dir(directory.join("tree")).expect("a tree");
    fs::write(directory.join("tree/file"), "x").expect("a file");
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").expect("a path"));
    let mut command = workloads("load ctar --tree tree");
    command.current_dir(directory).env("PATH", path).stdout(Stdio::piped());
    command.spawn().expect("the program starts")
}

#[track_caller]
fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(start.elapsed() < LIMIT, "{} does not come", path.display());
        sleep(Duration::from_millis(5));
    }
}

/// Tells the load to end within its second pass, or its first. Returns its passes and the CPU time
/// that it reports, in seconds.
fn ended_within(first: bool) -> (u64, f64) {
    let directory = TempDir::new().expect("a directory");
    if first {
        fs::write(directory.path().join("whole"), "").expect("a file");
    }
    let load = start(directory.path());
    wait_for(&directory.path().join("endless"));
    kill(Pid::from_raw(load.id().cast_signed()), Signal::SIGTERM).expect("it is there");
    let output = load.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("text");
    let figures: serde_json::Value =
        serde_json::from_str(text.lines().last().expect("figures")).expect("JSON");
    let passes = figures["passes"].as_u64().expect("a count");
    (passes, figures["reaped_cpu_s"].as_f64().expect("seconds"))
}

#[test]
fn an_unfinished_pass_and_its_cpu_time_are_not_counted() {
    let (cut, finished) = (ended_within(true), ended_within(false));
    assert_eq!((cut.0, finished.0), (0, 1));
    assert!(cut.1 < finished.1 / 2.0, "{cut:?} {finished:?}");
}
