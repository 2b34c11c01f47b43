// SPDX-License-Identifier: GPL-2.0-only
//! runoff-agent: attaches a scheduler, proves that it is in charge, runs the work and measures it.

mod background;
mod cell;
mod cgroup;
mod child;
mod commands;
mod disk;
mod fingerprint;
mod flush;
mod guest;
mod key_value;
mod load;
mod measure;
mod owner;
mod probe;
mod proof;
mod protocol;
mod random;
mod scheduler;
mod scratch;
mod session;
mod stop;
mod sweep;
mod work;

use std::process::ExitCode;

use scheduler::{AttachError, ParameterError};

fn main() -> ExitCode {
    if std::process::id() == 1 {
        guest::main();
    }
    match commands::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("runoff-agent: {error:#}");
            explain(&error)
        }
    }
}

/// Prints the log that explains the error, if any, and finds the exit code.
fn explain(error: &anyhow::Error) -> ExitCode {
    if let Some(error) = error.downcast_ref::<AttachError>() {
        if !error.detail().is_empty() {
            eprintln!("{}", error.detail());
        }
        return error.exit_code().into();
    }
    if let Some(error) = error.downcast_ref::<disk::DiskError>() {
        return error.exit_code().into();
    }
    let usage = error.downcast_ref::<ParameterError>().is_some();
    if usage { 64.into() } else { ExitCode::FAILURE }
}
