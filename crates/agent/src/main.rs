// SPDX-License-Identifier: GPL-2.0-only
#[allow(dead_code)]
mod protocol;
#[allow(dead_code)]
mod scheduler;
mod work;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// The instrument of runoff
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Describe the schedulers inside this program, as JSON
    Schedulers,
    /// Keep a scheduler attached until SIGINT or SIGTERM and print its counters once a second
    Attach {
        /// One of `schedulers`, an object file (contains "/"), or exec:PROGRAM
        scheduler: String,
        /// Parameters as key=value; arguments of exec:PROGRAM
        parameters: Vec<String>,
    },
    /// Change parameters of the scheduler that is attached
    Set {
        scheduler: String,
        #[arg(required = true)]
        parameters: Vec<String>,
    },
    /// Run processes that only use the CPU; print what each got as one JSON line
    Hogs(work::hogs::Hogs),
}

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("runoff-agent: {error:#}");
        if let Some(error) = error.downcast_ref::<scheduler::AttachError>() {
            eprint!("{}", error.detail());
        }
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Schedulers => {
            println!("{}", serde_json::to_string_pretty(scheduler::builtins())?);
        }
        Command::Attach { scheduler, parameters } => {
            let scheduler = scheduler::named(&scheduler, &parameters)?;
            return scheduler::stats::attach_until_signal(&scheduler, &mut std::io::stdout());
        }
        Command::Set { scheduler, parameters } => {
            scheduler::set_parameters(&scheduler, &scheduler::pairs(&parameters)?)?;
        }
        Command::Hogs(hogs) => println!("{}", serde_json::to_string(&hogs.run()?)?),
    }
    Ok(ExitCode::SUCCESS)
}
