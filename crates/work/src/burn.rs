// SPDX-License-Identifier: GPL-2.0-only
//! A fixed amount of computing, in milliseconds of an undisturbed CPU.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

#[derive(Debug, Args)]
pub struct Calibrate {
    /// Where the result is written
    #[arg(long)]
    file: PathBuf,
    /// What is written; 0 measures it
    #[arg(long, default_value_t = 0)]
    loops_per_ms: u64,
}

impl Calibrate {
    /// # Errors
    /// The file cannot be written.
    pub fn run(&self) -> Result<()> {
        let loops = if self.loops_per_ms == 0 { loops_per_ms() } else { self.loops_per_ms };
        fs::write(&self.file, format!("{loops}\n"))
            .with_context(|| format!("cannot write {}", self.file.display()))
    }
}

/// How much this machine computes in a millisecond.
#[derive(Debug, Clone, Copy)]
pub struct Calibration {
    loops_per_ms: u64,
}

impl Calibration {
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file)
            .with_context(|| format!("cannot read the calibration {}", file.display()))?;
        let loops_per_ms =
            text.trim().parse().with_context(|| format!("{} has no number", file.display()))?;
        ensure!(loops_per_ms > 0, "{} has no positive number", file.display());
        Ok(Self { loops_per_ms })
    }

    pub fn loops_per_ms(self) -> u64 {
        self.loops_per_ms
    }

    /// Computes as much as takes `work` on an undisturbed CPU, however long it takes now.
    pub fn burn(self, work: Duration) {
        let us = u64::try_from(work.as_micros()).unwrap_or(u64::MAX);
        spin(us.saturating_mul(self.loops_per_ms) / 1000);
    }
}

pub fn spin(loops: u64) {
    for at in 0..loops {
        black_box(at);
    }
}

/// Measures by the fastest of many short tries, which was not disturbed.
fn loops_per_ms() -> u64 {
    const TRIES: u32 = 100;
    const SHORTEST: Duration = Duration::from_millis(2);
    let timed = |loops| {
        let start = Instant::now();
        spin(loops);
        start.elapsed()
    };
    let mut loops = 1000;
    while timed(loops) < SHORTEST {
        loops *= 2;
    }
    let best = (0..TRIES).map(|_| timed(loops)).min().unwrap_or(SHORTEST);
    (loops * 1_000_000)
        .checked_div(u64::try_from(best.as_nanos()).unwrap_or(u64::MAX))
        .unwrap_or(loops)
        .max(1)
}
