// SPDX-License-Identifier: GPL-2.0-only
//! runoff-sim: opens compiled scheduler objects in user space.

mod describe;
mod inspect;

use std::io::{ErrorKind, Read, Write, stderr, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use bpfvm::kernel::{KERNELS, Kernel};
use clap::{Parser, Subcommand};
use serde::Serialize;

/// Compiled schedulers in user space
#[derive(Parser)]
#[command(name = "runoff-sim", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say as JSON what the object on standard input, or each scheduler inside a program there, holds and what it asks of
    /// which kernel
    Inspect,
    /// Describe as JSON the kernels that `inspect` asks, the oldest first
    Kernels,
    /// Print the description of a kernel that is described, as the section `.BTF` has types
    Description { kernel: String },
    /// Write what schedulers can ask of a kernel, and print the names of all its types and functions
    DescribeKernel {
        /// vmlinux as an ELF file
        image: PathBuf,
        /// The file to write
        description: PathBuf,
    },
}

/// Exit code for a file that cannot be used, as sysexits.h has it.
const USAGE: u8 = 64;

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads the answer any more.
        Err(error) if is_unread(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(stderr(), "runoff-sim: {error:#}");
            USAGE.into()
        }
    }
}

fn is_unread(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Inspect => {
            let mut bytes = Vec::new();
            stdin().read_to_end(&mut bytes)?;
            print(&inspect::inspect(&bytes)?)
        }
        Command::Kernels => print(&inspect::list_kernels()),
        Command::Description { kernel } => {
            let found = KERNELS.iter().position(|source| source.name == kernel);
            let number = found.with_context(|| format!("no kernel {kernel} is described here"))?;
            Ok(stdout().write_all(&Kernel::read(number).types.btf.write())?)
        }
        Command::DescribeKernel { image, description } => describe::kernel(&image, &description),
    }
}

fn print(answer: &impl Serialize) -> Result<()> {
    Ok(writeln!(stdout(), "{}", serde_json::to_string_pretty(answer)?)?)
}
