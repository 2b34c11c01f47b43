// SPDX-License-Identifier: GPL-2.0-only
//! Threads that only read from a file or a disk, to compare elevators.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::thread::Builder;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use nix::libc;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Serialize;

use crate::figures::as_f64;
use crate::start::together;
use crate::usage::length;

const MB: u64 = 1 << 20;
/// Largest distance: no device is larger than 2^63 bytes.
const MOST_APART_MB: u64 = 1 << 36;
/// Bytes of one sequential read, through the page cache.
const SEQUENTIAL_BYTES: usize = 64 << 10;
/// Bytes of one random read, past the page cache.
const RANDOM_BYTES: usize = 4096;

#[derive(Debug, Args)]
pub struct Readers {
    /// File or disk to read, for each thread by an open file of its own
    path: PathBuf,
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    readers: u16,
    /// Where each begins after the one before
    #[arg(long, value_name = "MB", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(..=MOST_APART_MB))]
    apart_mb: u64,
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = length)]
    seconds: Duration,
    /// Read 4 KiB anywhere, past the page cache, drawn from this seed; without it everything in order
    #[arg(long)]
    random_seed: Option<u64>,
}

#[derive(Debug, Serialize)]
pub struct Figures {
    /// The rate of each reader, in 10^6 bytes per second.
    pub mb_per_s: Vec<f64>,
    pub reads_per_s: Vec<f64>,
}

impl Readers {
    /// # Errors
    /// The file cannot be read, or is too short.
    pub fn run(&self) -> Result<Figures> {
        let files = (0..self.readers).map(|_| self.open()).collect::<Result<Vec<_>>>()?;
        let found =
            together(files.len(), Builder::new, |index| self.read(index as u64, &files[index]))?;
        let found = found.into_iter().collect::<Result<Vec<_>>>()?;
        let (mb_per_s, reads_per_s) = found.into_iter().unzip();
        Ok(Figures { mb_per_s, reads_per_s })
    }

    /// Reads with one reader; returns megabytes and calls per second.
    fn read(&self, index: u64, (file, bytes): &(File, u64)) -> Result<(f64, f64)> {
        let mut random =
            self.random_seed.map(|seed| SplitMix64::seed_from_u64(seed.wrapping_add(index)));
        let length = if random.is_some() { RANDOM_BYTES } else { SEQUENTIAL_BYTES };
        let mut buffer = Aligned([0; SEQUENTIAL_BYTES]);
        let mut at = index * self.apart_mb * MB;
        let start = Instant::now();
        let mut reads = 0_u64;
        while start.elapsed() < self.seconds {
            if let Some(random) = &mut random {
                at = random.next_u64() % (bytes / length as u64) * length as u64;
            }
            file.read_exact_at(&mut buffer.0[..length], at)
                .with_context(|| format!("cannot read {} at {at}", self.path.display()))?;
            at += length as u64;
            reads += 1;
        }
        let per_second = as_f64(reads) / start.elapsed().as_secs_f64();
        Ok((per_second * as_f64(length) / 1e6, per_second))
    }

    fn open(&self) -> Result<(File, u64)> {
        let flags = if self.random_seed.is_some() { libc::O_DIRECT } else { 0 };
        let cannot = || format!("cannot read {}", self.path.display());
        let options = File::options().read(true).custom_flags(flags).clone();
        let mut file = options.open(&self.path).with_context(cannot)?;
        let bytes = file.seek(SeekFrom::End(0)).with_context(cannot)?;
        ensure!(
            bytes >= SEQUENTIAL_BYTES as u64,
            "cannot read {}: it is shorter than one read of {SEQUENTIAL_BYTES} bytes",
            self.path.display()
        );
        Ok((file, bytes))
    }
}

/// A buffer that is aligned for direct I/O.
#[repr(align(4096))]
struct Aligned([u8; SEQUENTIAL_BYTES]);
