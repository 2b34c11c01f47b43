// SPDX-License-Identifier: GPL-2.0-only
//! runoff-agent: attaches a scheduler, proves that it is in charge, runs the work and measures it.

mod cell;
mod cgroup;
mod child;
mod commands;
mod fingerprint;
mod guest;
mod measure;
mod proof;
mod protocol;
mod scheduler;
mod scratch;
mod session;
mod stop;
mod work;

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::process::id() == 1 {
        guest::main();
    }
    match commands::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("runoff-agent: {error:#}");
            ExitCode::FAILURE
        }
    }
}
