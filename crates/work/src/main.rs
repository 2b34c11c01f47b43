// SPDX-License-Identifier: GPL-2.0-only
//! The programs of this crate without the rest of the agent, for tests and to reproduce one alone.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use machine::output::is_unread;
use work::usage::{self, Usage};

/// Work and loads of runoff
#[derive(Parser)]
#[command(name = "workloads", version)]
struct Arguments {
    #[command(subcommand)]
    program: work::Program,
}

fn main() -> ExitCode {
    let arguments: Arguments = match usage::parse() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    arguments.program.run().unwrap_or_else(|error| {
        if is_unread(&error) {
            return ExitCode::SUCCESS;
        }
        // Not eprintln!, which panics when nobody reads standard error either.
        let _ = writeln!(std::io::stderr(), "workloads: {error:#}");
        if error.is::<Usage>() { usage::EXIT.into() } else { ExitCode::FAILURE }
    })
}
