// SPDX-License-Identifier: GPL-2.0-only
//! The step `exec`: an actor goes on in a new program, this one, with its notes and all it shares.

use std::convert::Infallible;
use std::env::current_exe;
use std::fs::File;
use std::io::{PipeWriter, Seek, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};
use nix::sys::memfd::{MFdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};

use super::notes::Notes;
use super::position::Position;
use super::stage::{Props, Stage, Time};

/// The option of this program whose value is the number of the open file with a `Luggage`.
const OPTION: &str = "--after-exec";

/// What an actor takes along.
#[derive(Debug, Serialize, Deserialize)]
pub struct Luggage {
    pub props: Props,
    pub time: Time,
    pub position: Position,
    pub notes: Notes,
    /// Where the notes go in the end.
    pub answer: RawFd,
}

/// Goes on in a new program, which will write to `answer`.
pub fn exec(
    stage: &Stage,
    time: Time,
    position: Position,
    notes: Notes,
    answer: &PipeWriter,
) -> Result<Infallible> {
    fcntl_setfd(answer, FdFlags::empty()).context("cannot keep a pipe")?;
    let props = stage.hand_over()?;
    let luggage = Luggage { props, time, position, notes, answer: answer.as_raw_fd() };
    let mut file = File::from(memfd_create("actor", MFdFlags::empty()).context("no memory")?);
    file.write_all(&serde_json::to_vec(&luggage)?)?;
    file.rewind()?;
    let own = current_exe().context("this program has no path")?;
    let mut command = Command::new(own);
    command.arg("scene").arg(format!("{OPTION}={}", file.as_raw_fd()));
    Err(command.exec()).context("cannot go on in a new program")
}
