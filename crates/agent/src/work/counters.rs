// SPDX-License-Identifier: GPL-2.0-only
//! Seed 004's concurrent counter test: n processes each count to a limit, several passes.
//! specs/benchmarks/workloads.md section 3.

use std::hint::black_box;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use nix::sys::resource::UsageWho;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};

use super::process::cpu_s;

#[derive(Args)]
pub struct Arguments {
    /// Processes that count at the same time.
    #[arg(long, short = 'n', default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=4096))]
    processes: u32,
    /// What each process counts to.
    #[arg(long, default_value_t = 100_000_000)]
    count: u64,
    /// The mean of this many passes is printed.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    passes: u32,
}

/// Prints `time S cost S ratio R`: the mean of all passes, the same divided by the number of processes, and by the
/// time that the CPU time they took needs at least, on the CPUs that this program may use.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut total_s = 0.0;
    let before_s = cpu_s(UsageWho::RUSAGE_CHILDREN)?;
    for _ in 0..arguments.passes {
        total_s += pass(arguments)?;
    }
    let busy = available_parallelism()?.get().min(arguments.processes as usize);
    let ideal_s = (cpu_s(UsageWho::RUSAGE_CHILDREN)? - before_s) / busy as f64;
    let time_s = total_s / f64::from(arguments.passes);
    let cost_s = time_s / f64::from(arguments.processes);
    println!("time {time_s:.9} cost {cost_s:.9} ratio {:.6}", total_s / ideal_s);
    Ok(())
}

fn pass(arguments: &Arguments) -> Result<f64> {
    let start = Instant::now();
    let children =
        (0..arguments.processes).map(|_| spawn(arguments.count)).collect::<Result<Vec<_>>>()?;
    for child in children {
        match waitpid(child, None)? {
            WaitStatus::Exited(_, 0) => {}
            other => bail!("a counting process ended badly: {other:?}"),
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

fn spawn(count: u64) -> Result<Pid> {
    // SAFETY: this program has one thread, so the child may do anything.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            count_to(count);
            std::process::exit(0);
        }
    }
}

fn count_to(limit: u64) {
    let mut counter = 0u64;
    while black_box(counter) < limit {
        counter += 1;
    }
}
