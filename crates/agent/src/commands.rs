// SPDX-License-Identifier: GPL-2.0-only
//! The command line of the agent. People use `runoff`; these are for it and for workloads.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use schemars::schema_for;

use crate::scheduler::stats::{self, Reader};
use crate::{disk, load, protocol, scheduler, session, sweep, work};

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
    /// Describe elevators and models of disks, as JSON
    Elevators,
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
        /// Print them for each CPU too
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
        /// Print them for each CPU too
        #[arg(long)]
        per_cpu: bool,
        /// Those of this thread
        #[arg(long, conflicts_with = "per_cpu")]
        task: Option<u32>,
    },
    /// Serve a block device by an elevator and the model of a disk, until SIGINT or SIGTERM
    Disk(disk::Arguments),
    /// Describe the disks that are served here, and who uses them, as JSON
    Disks,
    /// Take one of `disks` away and print as JSON what it has done
    DiskRemove {
        device: String,
        /// Although it is in use: its users get I/O errors
        #[arg(long)]
        force: bool,
    },
    /// Work in the background until SIGTERM; print `ready`, and in the end what was done as JSON
    Load(load::Arguments),
    /// Measure how much this machine computes in a millisecond, for `periodic` and loads
    Calibrate(work::burn::Calibrate),
    /// Count in several processes at once and print how long it took
    Counters(work::counters::Arguments),
    /// Run processes that only use the CPU; print what each got as one JSON line
    Hogs(work::hogs::Hogs),
    /// Wake at deadlines and compute; print latencies and deadlines met as one JSON line
    Periodic(work::periodic::Periodic),
    /// Read in several threads; print what each got as one JSON line
    Readers(work::readers::Readers),
    /// Run a program that renders; print estimates of its end and its CPU use as one JSON line
    Render(work::render::Render),
    /// Wake workers by message threads; print latencies of wake-ups and requests as one JSON line
    Schbench(work::schbench::Schbench),
    /// Disturb a scheduler in every way a program can; print what was done as one JSON line
    Stress(work::stress::Stress),
    /// Yield in many threads at once; print how long one yield takes as one JSON line
    Yielders(work::yielders::Yielders),
}

pub fn run() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Session => session::on_stdio()?,
        Command::Sweep => sweep_and_tell()?,
        Command::Schema => print_schema()?,
        Command::Schedulers => println!("{}", serde_json::to_string_pretty(scheduler::builtins())?),
        Command::Elevators => println!("{}", serde_json::to_string_pretty(&disk::catalogue())?),
        Command::KernelTypes { image } => {
            println!(
                "{}",
                serde_json::to_string(&scheduler::kernel_functions::objection(&image)?)?
            );
        }
        Command::Attach { scheduler, parameters, per_cpu } => {
            let scheduler = scheduler::named(&scheduler, &parameters)?;
            let mut reader = Reader { per_cpu, task: None, out: &mut std::io::stdout() };
            return stats::attach_until_signal(&scheduler, &mut reader);
        }
        Command::Set { scheduler, parameters } => {
            let values = scheduler::set_parameters(&scheduler, &scheduler::pairs(&parameters)?)?;
            println!("{}", serde_json::to_string_pretty(&values)?);
        }
        Command::Stats { scheduler, follow, per_cpu, task } => {
            let mut reader = Reader { per_cpu, task, out: &mut std::io::stdout() };
            return stats::read_running(&scheduler, follow, &mut reader);
        }
        Command::Disks => println!("{}", serde_json::to_string_pretty(&disk::all()?)?),
        Command::DiskRemove { device, force } => {
            println!("{}", serde_json::to_string_pretty(&disk::remove(&device, force)?)?);
        }
        Command::Disk(arguments) => return Ok(disk::run(&arguments)?),
        Command::Load(arguments) => return load::run(&arguments),
        Command::Calibrate(calibrate) => calibrate.run()?,
        Command::Counters(arguments) => work::counters::run(&arguments)?,
        Command::Stress(stress) => return stress.run(),
        Command::Hogs(hogs) => println!("{}", serde_json::to_string(&hogs.run()?)?),
        Command::Periodic(periodic) => {
            println!("{}", serde_json::to_string(&periodic.run()?)?);
        }
        Command::Readers(readers) => println!("{}", serde_json::to_string(&readers.run()?)?),
        Command::Render(render) => return render.run(),
        Command::Schbench(schbench) => {
            println!("{}", serde_json::to_string(&schbench.run()?)?);
        }
        Command::Yielders(yielders) => {
            println!("{}", serde_json::to_string(&yielders.run()?)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn sweep_and_tell() -> Result<()> {
    let failures = sweep::all(&mut |line| println!("{line}"))?;
    let failures: Vec<_> = failures.iter().map(ToString::to_string).collect();
    anyhow::ensure!(failures.is_empty(), failures.join("; "));
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
