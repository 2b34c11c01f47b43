// SPDX-License-Identifier: GPL-2.0-only
//! compile_load: interbench's picture of a compiler, which computes, writes and reads at the same time.

use std::path::Path;
use std::thread;

use anyhow::{Result, anyhow};
use clap::Args;

use super::burn::spin_in;
use super::file::{Reader, Writer, require_room, size};
use super::{Done, Stop, processes, say_ready};

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
    /// A pass is one of the computing threads'; the bytes tell of the others.
    pub fn run(&self, stop: &Stop) -> Result<Done> {
        let threads = processes(self.threads, 1)?;
        let (size, here) = (size(self.size_mb)?, Path::new("."));
        require_room(here, 2 * size)?;
        let (mut writer, mut reader) = (Writer::create(here, size)?, Reader::create(here, size)?);
        say_ready()?;
        let (written, read, done) = thread::scope(|scope| {
            let writing = scope.spawn(|| ending_all(writer.work(stop), stop));
            let reading = scope.spawn(|| ending_all(reader.work(stop), stop));
            let done = ending_all(spin_in(threads, stop), stop);
            (writing.join(), reading.join(), done)
        });
        let lost = |_| anyhow!("a thread ended early");
        let (written, read) = (written.map_err(lost)??, read.map_err(lost)??);
        Ok(Done { bytes_read: read.bytes_read, bytes_written: written.bytes_written, ..done? })
    }
}

/// If one of the three cannot go on, the others need not.
fn ending_all(result: Result<Done>, stop: &Stop) -> Result<Done> {
    if result.is_err() {
        stop.request();
    }
    result
}
