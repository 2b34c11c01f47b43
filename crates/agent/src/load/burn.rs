// SPDX-License-Identifier: GPL-2.0-only
//! burn_load: threads that do nothing but compute.

use std::thread;

use anyhow::{Context, Result};
use clap::Args;

use super::{Done, Stop, processes, say_ready};
use crate::work::burn::spin;

#[derive(Args)]
pub struct Burn {
    /// How many threads there are; 0 is one for each CPU
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    threads: u16,
}

/// Between two looks at the request to end: well below a millisecond of a processor.
const LOOPS_A_LOOK: u64 = 100_000;
/// Counted as one.
const LOOKS_A_PASS: u64 = 10;

impl Burn {
    pub fn run(&self, stop: &Stop) -> Result<Done> {
        let threads = processes(self.threads, 1)?;
        say_ready()?;
        spin_in(threads, stop)
    }
}

/// Computes in so many threads until the request to end: a pass is a million loops of one of them.
pub fn spin_in(threads: usize, stop: &Stop) -> Result<Done> {
    let looks = thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, || spin_until(stop));
        let threads = (0..threads).map(spawn).collect::<std::io::Result<Vec<_>>>();
        if threads.is_err() {
            stop.request();
        }
        let join = |thread: thread::ScopedJoinHandle<u64>| thread.join().unwrap_or(0);
        Ok::<u64, std::io::Error>(threads?.into_iter().map(join).sum())
    })
    .context("cannot start the threads")?;
    let units = looks as f64 / LOOKS_A_PASS as f64;
    Ok(Done { passes: looks / LOOKS_A_PASS, units, ..Done::default() })
}

fn spin_until(stop: &Stop) -> u64 {
    let mut looks = 0;
    while !stop.requested() {
        spin(LOOPS_A_LOOK);
        looks += 1;
    }
    looks
}
