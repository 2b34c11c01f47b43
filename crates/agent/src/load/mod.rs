// SPDX-License-Identifier: GPL-2.0-only
//! contest's and interbench's loads: work without end in the background of a measured one. Each says
//! `ready`, works until SIGTERM, and then tells as one JSON line what it did
//! (specs/benchmarks/contest.md sections 2 and 6.3).

mod archive;
mod burn;
mod compile;
mod dbench;
mod file;
mod list;
mod memory;
mod programs;
mod ring;
mod video;

use std::io::Write;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use nix::sys::resource::UsageWho;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use serde::Serialize;

use crate::key_value::number;
use crate::work::process::cpu_s;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    load: Load,
}

#[derive(Subcommand)]
enum Load {
    /// Pass tokens around a ring of processes
    Process(ring::Ring),
    /// Pack a tree of files again and again
    Ctar(archive::Create),
    /// Unpack an archive again and again
    Xtar(archive::Extract),
    /// Write a file of the size of the memory again and again
    Io(file::Write),
    /// Read a file of the size of the memory again and again
    Read(file::Read),
    /// List all files below a directory again and again
    List(list::List),
    /// Copy around in more memory than there is
    Mem(memory::Memory),
    /// Do what many clients of a file server do
    Dbench(dbench::Dbench),
    /// Compute in several threads
    Burn(burn::Burn),
    /// Compute for a part of every 60th of a second
    Video(video::Video),
    /// Compute, write a file and read another at the same time
    Compile(compile::Compile),
}

/// What a load did between `ready` and its end.
#[derive(Debug, Default, Serialize)]
pub struct Done {
    /// How often it went through all of its work.
    pub passes: u64,
    /// The same with a fraction, in contest's unit of this load.
    pub units: f64,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    done: Done,
    /// CPU time of the load and of those of its programs that it waited for, which is all that
    /// contest saw: a program that was killed in the middle of a pass does not count.
    reaped_cpu_s: f64,
}

/// Runs until SIGTERM and prints what was done.
///
/// # Errors
/// The load cannot do its work here; the message has the numbers.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let stop = Stop::on_signal()?;
    let done = match &arguments.load {
        Load::Process(ring) => ring.run(&stop),
        Load::Ctar(create) => create.run(&stop),
        Load::Xtar(extract) => extract.run(&stop),
        Load::Io(write) => write.run(&stop),
        Load::Read(read) => read.run(&stop),
        Load::List(list) => list.run(&stop),
        Load::Mem(memory) => memory.run(&stop),
        Load::Dbench(dbench) => dbench.run(&stop),
        Load::Burn(burn) => burn.run(&stop),
        Load::Video(video) => video.run(&stop),
        Load::Compile(compile) => compile.run(&stop),
    }?;
    let reaped_cpu_s = reaped_cpu_s()? - PREPARATION_S.get().unwrap_or(&0.0);
    println!("{}", serde_json::to_string(&Report { done, reaped_cpu_s })?);
    Ok(ExitCode::SUCCESS)
}

/// CPU time used before the load was ready.
static PREPARATION_S: OnceLock<f64> = OnceLock::new();

/// Tells whoever started the load that all is prepared.
fn say_ready() -> Result<()> {
    PREPARATION_S.get_or_init(|| reaped_cpu_s().unwrap_or_default());
    println!("ready");
    std::io::stdout().flush().context("nobody waits for the load")
}

fn reaped_cpu_s() -> Result<f64> {
    Ok(cpu_s(UsageWho::RUSAGE_SELF)? + cpu_s(UsageWho::RUSAGE_CHILDREN)?)
}

static STOPPED: AtomicBool = AtomicBool::new(false);

extern "C" fn note_stop(_signal: nix::libc::c_int) {
    STOPPED.store(true, Ordering::Relaxed);
}

/// The request to end.
pub struct Stop(());

impl Stop {
    /// System calls that wait return when it comes, so that it is seen at once.
    fn on_signal() -> Result<Self> {
        let action =
            SigAction::new(SigHandler::Handler(note_stop), SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler only stores to an atomic.
        unsafe { sigaction(Signal::SIGTERM, &action) }?;
        Ok(Self(()))
    }

    pub fn requested(&self) -> bool {
        STOPPED.load(Ordering::Relaxed)
    }

    /// For a load of several threads, one of which cannot go on.
    pub fn request(&self) {
        STOPPED.store(true, Ordering::Relaxed);
    }
}

/// How many processes or threads are wanted; 0 is so many for each CPU.
fn processes(given: u16, for_each_cpu: usize) -> Result<usize> {
    Ok(match given {
        0 => for_each_cpu * std::thread::available_parallelism()?.get(),
        given => given.into(),
    })
}

/// MemTotal and SwapTotal of /proc/meminfo in bytes.
fn memory_and_swap() -> Result<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
    let bytes = |key| number::<u64>(&text, key).map(|kb| kb << 10);
    bytes("MemTotal:").zip(bytes("SwapTotal:")).context("/proc/meminfo lacks a total")
}
