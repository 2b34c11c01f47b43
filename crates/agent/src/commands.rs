//! The command line of the agent. People use `runoff`; these are for it and for workloads.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use schemars::schema_for;

use crate::{cgroup, protocol, scratch, session, work};

#[derive(Parser)]
#[command(name = "runoff-agent", version, about = "The instrument of runoff.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Read requests on standard input, answer with events on standard output.
    Session,
    /// End and remove what killed agents have left behind; print what it was.
    Sweep,
    /// Print the JSON Schema of requests and events.
    Schema,
    /// Count in several processes at once and print how long it took.
    Counters(work::counters::Arguments),
}

pub fn run() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Session => session::on_stdio()?,
        Command::Sweep => sweep()?,
        Command::Schema => print_schema()?,
        Command::Counters(arguments) => work::counters::run(&arguments)?,
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
