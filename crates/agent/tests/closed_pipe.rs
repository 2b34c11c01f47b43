// SPDX-License-Identifier: GPL-2.0-only
//! A reader that does not read everything that the agent prints is not an error, as for `yes |
//! head`.

use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

#[test]
fn nobody_reads_the_answer() {
    // Few yields: each lets every other running task have a turn.
    let yielders = "yielders --tasks 2 --yields 10";
    for command in ["schema", "schedulers", "elevators", yielders, "--help"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let done = Command::new(env!("CARGO_BIN_EXE_runoff-agent"))
            .args(command.split(' '))
            .stdout(OwnedFd::from(writer))
            .stderr(Stdio::piped())
            .output()
            .expect("the agent starts");
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!((done.status.code(), told), (Some(0), String::new()), "{command}");
    }
}

#[test]
fn a_command_that_does_not_exist_is_a_usage_error() {
    let done = Command::new(env!("CARGO_BIN_EXE_runoff-agent"))
        .arg("none")
        .output()
        .expect("the agent starts");
    assert_eq!(done.status.code(), Some(64));
}
