// SPDX-License-Identifier: GPL-2.0-only
//! contest's and interbench's loads: endless work in the background of a measured one. Each prints
//! `ready`, works until SIGTERM, and then prints one JSON line with its counters. They follow the
//! text of contest 0.61's home page, its author's mails of 2002 and 2003, and the source of
//! interbench 0.31.

mod archive;
mod burn;
mod compile;
mod dbench;
mod done;
mod end;
mod file;
mod list;
mod memory;
pub mod metrics;
mod programs;
mod ready;
mod ring;
mod sizes;
mod video;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;

use done::Done;
use end::EndFlag;
use machine::output;
use ready::reaped_cpu_s_since;

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

#[derive(Serialize)]
struct Figures {
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
    let flag = EndFlag::on_signal()?;
    let done = match &arguments.load {
        Load::Process(ring) => ring.run(&flag),
        Load::Ctar(create) => create.run(&flag),
        Load::Xtar(extract) => extract.run(&flag),
        Load::Io(write) => write.run(&flag),
        Load::Read(read) => read.run(&flag),
        Load::List(list) => list.run(&flag),
        Load::Mem(memory) => memory.run(&flag),
        Load::Dbench(dbench) => dbench.run(&flag),
        Load::Burn(burn) => burn.run(&flag),
        Load::Video(video) => video.run(&flag),
        Load::Compile(compile) => compile.run(&flag),
    }?;
    let reaped_cpu_s = reaped_cpu_s_since()?;
    output::json(&Figures { done, reaped_cpu_s })?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_counter_of_a_load_is_described() {
        let figures = Figures { done: Done::default(), reaped_cpu_s: 0.0 };
        let printed = serde_json::to_value(&figures).unwrap();
        let printed = printed.as_object().unwrap().keys().map(|name| format!("load_{name}"));
        let described = metrics::METRICS.iter().map(|metric| metric.name().to_owned());
        assert_eq!(printed.collect::<BTreeSet<_>>(), described.collect());
    }
}
