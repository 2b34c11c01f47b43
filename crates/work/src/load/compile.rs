// SPDX-License-Identifier: GPL-2.0-only
//! compile_load: interbench's picture of a compiler, which computes, writes and reads at the same time.

use std::io;
use std::path::Path;
use std::thread::{self, Builder, ScopedJoinHandle};

use anyhow::{Result, anyhow};
use clap::Args;

use super::burn::spin_in;
use super::done::Done;
use super::end::EndFlag;
use super::file::{Reader, Writer, require_room, size};
use super::ready::say_ready;
use super::sizes::processes;
use crate::start::refused;

#[derive(Args)]
pub struct Compile {
    /// How many threads compute; 0 is one for each CPU
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    threads: u16,
    /// How large each of the two files is; 0 is the size of the memory
    #[arg(long, value_name = "MB", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 20))]
    size_mb: u64,
}

impl Compile {
    /// Counts passes of the computing threads, and bytes of the two others.
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let threads = processes(self.threads, 1)?;
        let (size, here) = (size(self.size_mb)?, Path::new("."));
        require_room(here, 2 * size)?;
        let (mut writer, mut reader) =
            (Writer::create(here, size)?, Reader::create(here, size, flag)?);
        say_ready()?;
        let (written, read, done) = thread::scope(|scope| {
            let write = || ending_all(writer.work(flag), flag);
            let read = || ending_all(reader.work(flag), flag);
            let writing = ending_all(start(|| Builder::new().spawn_scoped(scope, write)), flag);
            let reading = ending_all(start(|| Builder::new().spawn_scoped(scope, read)), flag);
            let done = ending_all(spin_in(threads, flag), flag);
            (writing.and_then(join), reading.and_then(join), done)
        });
        let done = done?;
        Ok(Done { bytes_read: read?.bytes_read, bytes_written: written?.bytes_written, ..done })
    }
}

fn start<Thread>(spawn: impl FnOnce() -> io::Result<Thread>) -> Result<Thread> {
    spawn().map_err(|error| refused("the thread of a file", &error.into()))
}

fn join(thread: ScopedJoinHandle<Result<Done>>) -> Result<Done> {
    thread.join().map_err(|_| anyhow!("a thread ended early"))?
}

/// Ends all three if one of them cannot go on.
fn ending_all<Found>(result: Result<Found>, flag: &EndFlag) -> Result<Found> {
    if result.is_err() {
        flag.set();
    }
    result
}
