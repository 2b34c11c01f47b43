// SPDX-License-Identifier: GPL-2.0-only
//! Threads that only read from a file or a disk: what an elevator makes of several of them.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use nix::libc;
use serde::Serialize;

use crate::random::SplitMix;

const MB: u64 = 1 << 20;
/// What one call reads: sequentially through the page cache, or anywhere past it.
const SEQUENTIAL_BYTES: usize = 64 << 10;
const RANDOM_BYTES: usize = 4096;

#[derive(Debug, Args)]
pub struct Readers {
    /// What they read, each by an open file of its own
    path: PathBuf,
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    readers: u64,
    /// Where each begins after the one before
    #[arg(long, value_name = "MB", default_value_t = 0)]
    apart_mb: u64,
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Read 4 KiB anywhere, past the page cache, drawn from this seed; without it everything in order
    #[arg(long)]
    random_seed: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct Report {
    /// Of each reader, in 10^6 bytes.
    pub mb_per_s: Vec<f64>,
    pub reads_per_s: Vec<f64>,
}

impl Readers {
    /// # Errors
    /// The file cannot be read, or is shorter than what is to be read.
    pub fn run(&self) -> Result<Report> {
        ensure!(self.seconds > 0, "--seconds must be positive");
        let together = &Barrier::new(self.readers as usize);
        let found: Result<Vec<_>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.readers)
                .map(|index| scope.spawn(move || self.read(index, together)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("a reader never panics"))
                .collect()
        });
        let (mb_per_s, reads_per_s) = found?.into_iter().unzip();
        Ok(Report { mb_per_s, reads_per_s })
    }

    /// Megabytes and calls per second.
    fn read(&self, index: u64, together: &Barrier) -> Result<(f64, f64)> {
        let opened = self.open();
        together.wait();
        let (file, bytes) =
            opened.with_context(|| format!("cannot read {}", self.path.display()))?;
        let mut random = self.random_seed.map(|seed| SplitMix(seed.wrapping_add(index)));
        let length = if random.is_some() { RANDOM_BYTES } else { SEQUENTIAL_BYTES };
        let mut buffer = Aligned([0; SEQUENTIAL_BYTES]);
        let mut at = index * self.apart_mb * MB;
        let (start, limit) = (Instant::now(), Duration::from_secs(self.seconds));
        let mut reads = 0_u64;
        while start.elapsed() < limit {
            if let Some(random) = &mut random {
                at = random.below(bytes / length as u64) * length as u64;
            }
            file.read_exact_at(&mut buffer.0[..length], at)
                .with_context(|| format!("cannot read {} at {at}", self.path.display()))?;
            at += length as u64;
            reads += 1;
        }
        let per_second = reads as f64 / start.elapsed().as_secs_f64();
        Ok((per_second * length as f64 / 1e6, per_second))
    }

    fn open(&self) -> Result<(File, u64)> {
        let flags = if self.random_seed.is_some() { libc::O_DIRECT } else { 0 };
        let mut file = File::options().read(true).custom_flags(flags).open(&self.path)?;
        let bytes = file.seek(SeekFrom::End(0))?;
        ensure!(bytes >= SEQUENTIAL_BYTES as u64, "it is shorter than one read");
        Ok((file, bytes))
    }
}

/// As direct I/O wants it.
#[repr(align(4096))]
struct Aligned([u8; SEQUENTIAL_BYTES]);
