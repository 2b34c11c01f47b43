// SPDX-License-Identifier: GPL-2.0-only
//! A block device whose requests go through an elevator and the model of a rotational disk, by ublk_drv
//! (Linux 6.5 and later; specs/benchmarks/iosched.md section 11).

mod abi;
mod account;
pub mod borrowed;
mod channel;
mod control;
mod error;
mod identity;
mod in_charge;
mod kernel;
mod latency;
mod metrics;
mod mounted;
mod pieces;
mod present;
mod process;
mod queue;
mod record;
mod request_log;
mod sample;
mod served;
mod server;
mod settings;
mod setup;
mod spindle;
mod store;
mod users;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd;
use serde_json::json;

pub use control::sweep;
pub use error::DiskError;
pub use metrics::Metrics;
pub use present::{all, remove};
use record::{Description, Record};
pub use sample::SampleDisk;
use served::Served;
use server::Done;
use setup::Setup;

/// Says that the server has ended by itself.
const ENDED: Signal = Signal::SIGUSR1;

/// From now on nothing takes time, and nothing is counted: the disk is to be emptied and taken away.
const HURRY: Signal = Signal::SIGUSR2;

#[derive(Args)]
pub struct Arguments {
    /// noop, deadline, anticipatory or cfq; or the kernel's own none, mq-deadline, kyber or bfq
    #[arg(long)]
    elevator: String,
    /// ide2003, scsi10k or none, with parameters as NAME:key=value,...
    #[arg(long, default_value = "ide2003")]
    model: String,
    /// Size; that of the model without it
    #[arg(long, value_name = "MB")]
    size_mb: Option<u64>,
    /// Keep the data in this file, which is emptied first, instead of memory
    #[arg(long)]
    file: Option<PathBuf>,
    /// Put these blocks on the disk first: records of an offset (8 bytes, least first) and 4096 bytes
    #[arg(long)]
    content: Option<PathBuf>,
    /// Print what became of each request, too
    #[arg(long, conflicts_with = "keep")]
    requests: bool,
    /// Stay when whoever started this has left: nothing is printed after the device, and `disk-remove` tells
    /// what it has done
    #[arg(long)]
    keep: bool,
    /// The elevator's, as key=value
    parameters: Vec<String>,
}

/// Prints the device as one JSON line, serves it until SIGTERM or SIGINT, and prints what it has done.
///
/// While somebody uses the device it stays, and says so; a second signal removes it nevertheless: its
/// users then get I/O errors.
pub fn run(arguments: &Arguments) -> Result<ExitCode, DiskError> {
    let setup = Setup::new(
        &arguments.elevator,
        &arguments.parameters,
        &arguments.model,
        arguments.size_mb,
    )?;
    let (file, content) = (arguments.file.clone(), arguments.content.clone());
    let setup = Setup { file, content, with_log: arguments.requests, ..setup };
    let signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, ENDED, HURRY]);
    signals.thread_block().map_err(|errno| DiskError::Server { error: errno.into() })?;
    let served = Served::start(&setup)?;
    let description = Description::new(&setup, &arguments.parameters, &arguments.model);
    let announced = json!({
        "device": control::block_device(served.number),
        "elevator": setup.elevator_name(),
        "identity": setup.identity(),
    });
    let record = Record::write(served.number, description)?;
    println!("{announced}");
    if arguments.keep {
        fall_silent().map_err(|error| DiskError::Server { error })?;
    }
    served.await_end(&signals);
    let outcome = served.end();
    if arguments.keep {
        record.end(&outcome.map(|done| done.counts))?;
    } else {
        record.remove();
        print(&outcome?).map_err(|error| DiskError::Server { error })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What has been counted as one JSON line, then the log.
fn print(done: &Done) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "{}", serde_json::to_string(&done.counts)?)?;
    if let Some(log) = &done.log {
        writeln!(out, "{}", request_log::HEADER)?;
        for line in log.lines() {
            writeln!(out, "{line}")?;
        }
    }
    out.flush()
}

/// Nobody hears this process any more, and it holds nothing that somebody could want to unmount.
fn fall_silent() -> io::Result<()> {
    std::env::set_current_dir("/")?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    unistd::dup2_stdin(&nothing)?;
    unistd::dup2_stdout(&nothing)?;
    unistd::dup2_stderr(&nothing)?;
    Ok(())
}

/// Every elevator and every model of a disk, as users see them.
pub fn catalogue() -> serde_json::Value {
    json!({
        "elevators": elevators::catalogue::ELEVATORS,
        "kernel": kernel::KERNEL_ELEVATORS,
        "disk": ::disk::DISK,
        "models": ::disk::DISKS,
    })
}
