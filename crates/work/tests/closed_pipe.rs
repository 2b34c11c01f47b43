// SPDX-License-Identifier: GPL-2.0-only
//! A reader that does not read to the end is not an error, as for `yes | head`.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

mod common;
use common::workloads;

fn unread(mut command: Command) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let done =
        command.stdout(OwnedFd::from(writer)).stderr(Stdio::piped()).output().expect("it starts");
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn an_unread_result_is_not_an_error() {
    for arguments in [
        "yielders --tasks 2 --yields 10",
        "counters --count 10 --passes 1",
        "hogs --seconds 0.01",
        "schbench --seconds 0.5 --warm-up 0",
        "load burn --threads 1",
        "--help",
    ] {
        assert_eq!(unread(workloads(arguments)), (Some(0), String::new()), "{arguments}");
    }
    let mut render = workloads("render --seconds 1 --frames-a-second 1 -- sh -c");
    render.arg("sleep 0.3; echo frame=1");
    assert_eq!(unread(render), (Some(0), String::new()));
}

#[test]
fn a_full_disk_is_an_error() {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut command = workloads("yielders --tasks 2 --yields 10");
    let done = command.stdout(full).stderr(Stdio::piped()).output().expect("it starts");
    let told = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1));
    assert!(told.contains("cannot write to standard output: No space left on device"), "{told}");
}
