// SPDX-License-Identifier: GPL-2.0-only
//! A block device whose requests go through an elevator and the model of a rotational disk, by ublk_drv
//! (Linux 6.5 and later).

mod catalogue;
mod devices;
mod driver;
mod error;
mod front;
mod identity;
mod log;
mod metrics;
mod own_disk;
mod process;
mod record;
mod server;
mod setup;
mod users;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd;
use serde_json::json;

pub use catalogue::catalogue;
pub use devices::{all, remove, sweep};
pub use driver::device::HURRY;
pub use error::DiskError;
pub use log::pieces;
pub use metrics::METRICS as LOG_METRICS;
pub use process::ServerProcess;
pub use server::account::Counts;

use driver::device::{self, ENDED};
use log::request_lines;
use own_disk::OwnDisk;
use record::Record;
use server::Done;
use setup::Setup;

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
    /// Keep the data in this file, which must not be there yet, instead of memory
    #[arg(long)]
    file: Option<PathBuf>,
    /// Put these blocks on the disk first: records of an offset (8 bytes, least first) and 4096 bytes
    #[arg(long)]
    content: Option<PathBuf>,
    /// Also print the course of each request
    #[arg(long, conflicts_with = "keep")]
    requests: bool,
    /// Stay when the process that started this has ended: nothing is printed after the device, and
    /// `disk-remove` prints what it has done
    #[arg(long)]
    keep: bool,
    /// Parameters of the elevator, as key=value
    parameters: Vec<String>,
}

/// Prints the device as one JSON line, serves it until SIGTERM or SIGINT, and prints its counts.
///
/// While the device is in use it stays, and prints a message; a second signal removes it in any
/// case: its users then get I/O errors.
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
    let mut disk = OwnDisk::start(&setup)?;
    let description = setup.description(&arguments.parameters, &arguments.model);
    let announced = json!({
        "device": device::block_device(disk.number),
        "elevator": setup.elevator_name(),
        "identity": setup.attribution().name(),
    });
    let record = Record::write(disk.number, description)?;
    announce(&announced).map_err(|error| DiskError::Server { error })?;
    disk.keep_data();
    if arguments.keep {
        fall_silent().map_err(|error| DiskError::Server { error })?;
    }
    disk.await_end(&signals);
    let outcome = disk.end();
    if arguments.keep {
        record.end(&outcome.map(|done| done.counts))?;
    } else {
        record.remove();
        print(&outcome?).map_err(|error| DiskError::Server { error })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the disk in one line, which the process that started this waits for.
fn announce(disk: &serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{disk}")?;
    out.flush()
}

/// Prints the counts as one JSON line, then the log.
fn print(done: &Done) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "{}", serde_json::to_string(&done.counts)?)?;
    if let Some(log) = &done.log {
        writeln!(out, "{}", request_lines::HEADER)?;
        for line in log.lines() {
            writeln!(out, "{line}")?;
        }
    }
    out.flush()
}

/// Closes standard input and output: the caller may leave.
fn fall_silent() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    unistd::dup2_stdin(&nothing)?;
    unistd::dup2_stdout(&nothing)?;
    unistd::dup2_stderr(&nothing)?;
    Ok(())
}
