// SPDX-License-Identifier: GPL-2.0-only
//! runoff-agent: attaches a scheduler, proves that it is in charge, runs the work and measures it.

use std::io::Write;
use std::process::ExitCode;

use agent::{booted, commands, disk, guest};
use machine::output::is_unread;
use rustix::fs::Mode;
use rustix::process::umask;
use schedulers::{AttachError, ParameterError};
use work::usage::{self, Usage};

fn main() -> ExitCode {
    // The caller's umask may let every user write to the files that this makes.
    umask(Mode::from_raw_mode(0o022));
    if booted::is_booted_for_us() {
        guest::main();
    }
    match commands::run() {
        Ok(code) => code,
        Err(error) if is_unread(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("runoff-agent: {error:#}"));
            explain(&error)
        }
    }
}

/// Prints the log that explains the error, if any, and finds the exit code.
fn explain(error: &anyhow::Error) -> ExitCode {
    if let Some(error) = error.downcast_ref::<AttachError>() {
        if !error.detail().is_empty() {
            say(error.detail());
        }
        return error.exit_code().into();
    }
    if let Some(code) = disk::exit_code(error) {
        return code.into();
    }
    let is_usage = error.is::<ParameterError>() || error.is::<Usage>();
    if is_usage { usage::EXIT.into() } else { ExitCode::FAILURE }
}

/// Prints to standard error; unlike eprintln!, goes on when nobody reads it.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
