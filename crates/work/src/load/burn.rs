// SPDX-License-Identifier: GPL-2.0-only
//! burn_load: threads that do nothing but compute.

use std::thread;

use anyhow::{Error, Result};
use clap::Args;

use super::done::Done;
use super::end::EndFlag;
use super::ready::say_ready;
use super::sizes::processes;
use crate::burn::spin;
use crate::figures::as_f64;
use crate::start;

#[derive(Args)]
pub struct Burn {
    /// How many threads there are; 0 is one for each CPU
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    threads: u16,
}

/// Loops between two checks for the request to end: well below a millisecond.
const LOOPS_A_LOOK: u64 = 100_000;
/// Checks that count as one pass.
const LOOKS_A_PASS: u64 = 10;

impl Burn {
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let threads = processes(self.threads, 1)?;
        say_ready()?;
        spin_in(threads, flag)
    }
}

/// Computes in `threads` threads until the request to end: a pass is a million loops of one of
/// them.
pub fn spin_in(threads: usize, flag: &EndFlag) -> Result<Done> {
    let looks = thread::scope(|scope| {
        let spawn = |_| Ok(thread::Builder::new().spawn_scoped(scope, || spin_until(flag))?);
        let threads = start::all("thread", threads, spawn, |_| flag.set());
        let join = |thread: thread::ScopedJoinHandle<u64>| thread.join().unwrap_or(0);
        Ok::<u64, Error>(threads?.into_iter().map(join).sum())
    })?;
    let units = as_f64(looks) / as_f64(LOOKS_A_PASS);
    Ok(Done { passes: looks / LOOKS_A_PASS, units, ..Done::default() })
}

fn spin_until(flag: &EndFlag) -> u64 {
    let mut looks = 0;
    while !flag.is_set() {
        spin(LOOPS_A_LOOK);
        looks += 1;
    }
    looks
}
