// SPDX-License-Identifier: GPL-2.0-only
//! The program that an actor goes on in after `exec`.

use std::fs::File;
use std::io::PipeWriter;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};

use super::actor::Actor;
use super::bell;
use super::luggage::Luggage;
use super::stage::Stage;
use crate::process::give;

/// Follows the rest of the script, and writes the answer.
///
/// # Safety
/// The file of this number is one that `exec` left for this program.
///
/// # Errors
/// It is not.
pub unsafe fn go_on(file: RawFd) -> Result<ExitCode> {
    // SAFETY: it is open, and nobody else's.
    let file = unsafe { File::from_raw_fd(file) };
    let luggage: Luggage = serde_json::from_reader(file).context("an actor has not left this")?;
    // SAFETY: the same holds for all files that are named in it.
    let (answer, stage) = unsafe {
        let answer = PipeWriter::from(OwnedFd::from_raw_fd(luggage.answer));
        (answer, Stage::take(luggage.props)?)
    };
    bell::arm()?;
    let actor =
        Actor::new(Arc::new(stage), luggage.time, luggage.position, luggage.notes, Some(&answer));
    match give(actor.follow(), &answer) {
        true => Ok(ExitCode::SUCCESS),
        false => Ok(ExitCode::FAILURE),
    }
}
