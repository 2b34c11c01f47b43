// SPDX-License-Identifier: GPL-2.0-only
//! The concurrent counter test of 2009 (docs/workloads/counters.md): n processes each count to a limit, in several
//! passes.

use std::hint::black_box;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use nix::sys::resource::UsageWho;
use nix::sys::wait::WaitStatus;

use crate::figures::as_f64;
use crate::process::Child;
use crate::start;
use machine::clock::cpu_s;
use machine::output;

#[derive(Args)]
pub struct Arguments {
    /// Processes that count at the same time.
    #[arg(long, short = 'n', default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=4096))]
    processes: u16,
    /// What each process counts to.
    #[arg(long, default_value_t = 100_000_000)]
    count: u64,
    /// The mean of this many passes is printed.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    passes: u32,
}

/// Prints `time S cost S ratio R`: the mean of all passes; the same divided by the number of
/// processes; and divided by the least time in which the CPUs that this program may use can give
/// the CPU time used.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut total_s = 0.0;
    let before_s = cpu_s(UsageWho::RUSAGE_CHILDREN)?;
    for _ in 0..arguments.passes {
        total_s += pass(arguments)?;
    }
    let busy = available_parallelism()?.get().min(arguments.processes.into());
    let ideal_s = (cpu_s(UsageWho::RUSAGE_CHILDREN)? - before_s) / as_f64(busy);
    let time_s = total_s / f64::from(arguments.passes);
    let cost_s = time_s / f64::from(arguments.processes);
    output::line(format_args!("time {time_s:.9} cost {cost_s:.9} ratio {:.6}", total_s / ideal_s))
}

fn pass(arguments: &Arguments) -> Result<f64> {
    let start = Instant::now();
    let count = || {
        count_to(arguments.count);
        true
    };
    let spawn = |_| Ok(Child::spawn(count)?);
    let children = start::all("process", arguments.processes.into(), spawn, Child::kill)?;
    for child in children {
        match child.wait()? {
            WaitStatus::Exited(_, 0) => {}
            other => bail!("a counting process ended badly: {other:?}"),
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

fn count_to(limit: u64) {
    let mut counter = 0u64;
    while black_box(counter) < limit {
        counter += 1;
    }
}
