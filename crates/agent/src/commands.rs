// SPDX-License-Identifier: GPL-2.0-only
//! The command line of the agent. People use `runoff`; these are for it and for workloads.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use schemars::schema_for;

use crate::{cgroup, protocol, scheduler, scratch, session, work};

/// The instrument of runoff
#[derive(Parser)]
#[command(name = "runoff-agent", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Read requests on standard input, answer with events on standard output
    Session,
    /// End and remove what killed agents have left behind; print what it was
    Sweep,
    /// Print the JSON Schema of requests and events
    Schema,
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
    /// Count in several processes at once and print how long it took
    Counters(work::counters::Arguments),
    /// Run processes that only use the CPU; print what each got as one JSON line
    Hogs(work::hogs::Hogs),
}

pub fn run() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Session => session::on_stdio()?,
        Command::Sweep => sweep()?,
        Command::Schema => print_schema()?,
        Command::Schedulers => println!("{}", serde_json::to_string_pretty(scheduler::builtins())?),
        Command::Attach { scheduler, parameters } => {
            let scheduler = scheduler::named(&scheduler, &parameters)?;
            return scheduler::stats::attach_until_signal(&scheduler, &mut std::io::stdout());
        }
        Command::Set { scheduler, parameters } => {
            scheduler::set_parameters(&scheduler, &scheduler::pairs(&parameters)?)?;
        }
        Command::Counters(arguments) => work::counters::run(&arguments)?,
        Command::Hogs(hogs) => println!("{}", serde_json::to_string(&hogs.run()?)?),
    }
    Ok(ExitCode::SUCCESS)
}

fn sweep() -> Result<()> {
    for path in cgroup::sweep()?.iter().chain(&scratch::sweep()?) {
        println!("removed {}", path.display());
    }
    Ok(())
}

fn print_schema() -> Result<()> {
    let schema = serde_json::json!({
        "version": protocol::VERSION,
        "request": schema_for!(protocol::Request),
        "event": schema_for!(protocol::Event),
    });
    println!("{}", serde_json::to_string_pretty(&schema)?);
    Ok(())
}
