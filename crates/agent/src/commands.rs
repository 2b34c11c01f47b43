// SPDX-License-Identifier: GPL-2.0-only
//! The command line of the agent. People use `runoff`; these are for it and for workloads.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, ExitCode};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use schemars::schema_for;

use machine::root::Root;
use machine::{lifeline, output};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use schedulers::owner::World;
use schedulers::stats::{self, Reader};
use work::usage;

use crate::{metrics, session, sweep};

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
    Session {
        /// What an earlier agent has told as its instrument: run with the same
        #[arg(long)]
        instrument: Option<String>,
        /// Stop the service that has a scheduler in charge, and start it again at the end
        #[arg(long)]
        take_over: bool,
    },
    /// End and remove what killed agents have left behind; print what it was
    Sweep,
    /// Print the JSON Schema of requests and events
    Schema,
    /// Tell which scheduler is in charge of this machine and what keeps it so, as JSON: null for the kernel's own
    InCharge,
    /// Describe the schedulers inside this program, or an object file, as JSON
    Schedulers { object: Option<PathBuf> },
    /// Describe elevators and models of disks, as JSON
    Elevators,
    /// Describe settings that can be a part of an arm, with the values that they have here, as JSON
    Settings,
    /// Describe what is measured, as JSON
    Metrics,
    /// Say as JSON why schedulers cannot be attached to a kernel image, null when they can
    KernelTypes {
        /// vmlinux as an ELF file
        image: PathBuf,
    },
    /// Keep a scheduler attached until SIGINT or SIGTERM and print its counters once a second
    Attach {
        /// One of `schedulers`, an object file (contains "/"), or exec:PROGRAM
        scheduler: String,
        /// Parameters as key=value; arguments of exec:PROGRAM
        parameters: Vec<String>,
        /// Print the counters of each CPU too
        #[arg(long)]
        per_cpu: bool,
    },
    /// Change parameters of the scheduler that is attached and print their values as JSON; without
    /// parameters only print
    Set { scheduler: String, parameters: Vec<String> },
    /// Print the counters of the scheduler that is attached as JSON lines
    Stats {
        scheduler: String,
        /// Once a second, until SIGINT or SIGTERM
        #[arg(long)]
        follow: bool,
        /// Print the counters of each CPU too
        #[arg(long)]
        per_cpu: bool,
        /// Print the counters of this thread
        #[arg(long, conflicts_with = "per_cpu")]
        task: Option<u32>,
    },
    /// Serve a block device by an elevator and the model of a disk, until SIGINT or SIGTERM
    Disk(ublk::Arguments),
    /// Describe the disks that are served here, and who uses them, as JSON
    Disks,
    /// Take one of `disks` away and print as JSON what it has done
    DiskRemove {
        device: String,
        /// Remove it although it is in use: its users get I/O errors
        #[arg(long)]
        force: bool,
    },
    /// Print for each pattern, query or column of a JSON list on standard input why it cannot find a number, or null
    CheckFinds,
    /// Print as JSON every number that a pattern finds on standard input, with its line and what other groups catch
    FindNumbers {
        /// A regular expression whose first group without a name is the number
        pattern: String,
        /// The unit of the numbers, where it is not that of the first one
        #[arg(long)]
        unit: Option<String>,
        /// What stands between each three digits of a large number
        #[arg(long)]
        thousands: Option<char>,
    },
    /// Become a program that is killed when this one's parent ends
    EndWith {
        /// Id of the parent; one that has ended already is noticed
        parent: i32,
        /// Let the program end itself: SIGTERM instead of SIGKILL
        #[arg(long)]
        gently: bool,
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    #[command(flatten)]
    Work(work::Program),
}

/// # Errors
/// The command fails. `machine::output::is_unread` tells whether the only error is that nobody
/// reads the answer.
pub fn run() -> Result<ExitCode> {
    let arguments: Arguments = match usage::parse() {
        Ok(arguments) => arguments,
        Err(code) => return Ok(code),
    };
    match arguments.command {
        Command::Session { instrument, take_over } => {
            session::on_stdio(instrument.as_deref(), take_over)?;
        }
        Command::Sweep => sweep_and_tell()?,
        Command::Schema => print_schema()?,
        Command::InCharge => output::pretty_json(&World::here().in_charge())?,
        Command::Schedulers { object: None } => output::pretty_json(&schedulers::builtins())?,
        Command::Schedulers { object: Some(path) } => {
            output::pretty_json(&schedulers::describe_object(&path)?)?;
        }
        Command::Elevators => output::pretty_json(&ublk::catalogue())?,
        Command::Settings => output::pretty_json(&settings::describe(&Root::machine()))?,
        Command::Metrics => output::pretty_json(&metrics::catalogue())?,
        Command::KernelTypes { image } => {
            output::json(&bpf::kernel_functions::objection(&image)?)?;
        }
        Command::Attach { scheduler, parameters, per_cpu } => {
            let scheduler = schedulers::named(&scheduler, &parameters)?;
            let mut reader = Reader { per_cpu, task: None, out: &mut output::Standard };
            return stats::attach_until_signal(&scheduler, &mut reader);
        }
        Command::Set { scheduler, parameters } => {
            let values = schedulers::set_parameters(&scheduler, &schedulers::pairs(&parameters)?)?;
            output::pretty_json(&values)?;
        }
        Command::Stats { scheduler, follow, per_cpu, task } => {
            let mut reader = Reader { per_cpu, task, out: &mut output::Standard };
            return stats::read_running(&scheduler, follow, &mut reader);
        }
        Command::Disks => output::pretty_json(&ublk::all()?)?,
        Command::DiskRemove { device, force } => {
            output::pretty_json(&ublk::remove(&device, force)?)?;
        }
        Command::Disk(arguments) => return Ok(ublk::run(&arguments)?),
        Command::CheckFinds => {
            let sought: Vec<protocol::Find> = serde_json::from_reader(std::io::stdin())?;
            let objections: Vec<_> = sought.iter().map(numbers::objection).collect();
            output::json(&objections)?;
        }
        Command::FindNumbers { pattern, unit, thousands } => {
            let mut text = Vec::new();
            std::io::stdin().read_to_end(&mut text)?;
            let found = numbers::list(&pattern, unit.as_deref(), thousands, &text);
            output::json(&found.map_err(usage::Usage)?)?;
        }
        Command::EndWith { parent, gently, command } => {
            let signal = if gently { Signal::SIGTERM } else { Signal::SIGKILL };
            lifeline::bind(Pid::from_raw(parent), signal).context("its parent has ended")?;
            let error = process::Command::new(&command[0]).args(&command[1..]).exec();
            return Err(error).with_context(|| format!("cannot run {}", command[0].display()));
        }
        Command::Work(program) => return program.run(),
    }
    Ok(ExitCode::SUCCESS)
}

fn sweep_and_tell() -> Result<()> {
    // The sweep goes on when nobody reads its lines.
    let stays = sweep::all(None, &mut |line| {
        let _ = output::line(line);
    })?;
    anyhow::ensure!(stays.is_empty(), stays.join("; "));
    Ok(())
}

fn print_schema() -> Result<()> {
    let schema = serde_json::json!({
        "version": protocol::VERSION,
        "request": schema_for!(protocol::Request),
        "event": schema_for!(protocol::Event),
    });
    output::pretty_json(&schema)?;
    Ok(())
}
