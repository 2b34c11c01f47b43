// SPDX-License-Identifier: GPL-2.0-only
//! Threads that only yield: every yield is one decision of the scheduler among all of them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::figures::as_f64;
use crate::start::together;

/// Stack of a thread that only yields: it needs hardly any, and there are thousands of them.
const STACK_BYTES: usize = 64 * 1024;

#[derive(Debug, Args)]
pub struct Yielders {
    /// Threads that can all run all the time
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    tasks: u16,
    /// Yields of all of them together that are measured
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    yields: u64,
}

#[derive(Debug, Serialize)]
pub struct Figures {
    /// Mean time of one yield: the system call, the decision and the switch.
    pub yield_ns: f64,
}

impl Yielders {
    /// # Errors
    /// The threads cannot be started.
    pub fn run(&self) -> Result<Figures> {
        let warm_up = 2 * u64::from(self.tasks);
        let race = Race { warm_up, end: warm_up + self.yields, ..Race::default() };
        let builder = || Builder::new().stack_size(STACK_BYTES);
        together(self.tasks.into(), builder, |_| race.run())?;
        let elapsed = race.elapsed().context("the yields were not measured")?;
        Ok(Figures { yield_ns: as_f64(elapsed.as_nanos()) / as_f64(self.yields) })
    }
}

/// All threads count their yields together; the clock runs from the end of the warm-up.
#[derive(Default)]
struct Race {
    warm_up: u64,
    end: u64,
    done: AtomicU64,
    start: Mutex<Option<Instant>>,
    finish: Mutex<Option<Instant>>,
}

impl Race {
    fn run(&self) {
        loop {
            thread::yield_now();
            let done = self.done.fetch_add(1, Ordering::Relaxed);
            if done == self.warm_up {
                note(&self.start);
            } else if done == self.end {
                note(&self.finish);
            }
            if done >= self.end {
                return;
            }
        }
    }

    fn elapsed(&self) -> Option<Duration> {
        let start = (*self.start.lock().ok()?)?;
        let finish = (*self.finish.lock().ok()?)?;
        Some(finish - start)
    }
}

fn note(when: &Mutex<Option<Instant>>) {
    if let Ok(mut when) = when.lock() {
        *when = Some(Instant::now());
    }
}
