// SPDX-License-Identifier: GPL-2.0-only
//! Small programs that need only this binary: work that depends only on the scheduler, and loads.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use machine::output;

pub mod burn;
pub mod column;
pub mod counters;
mod figures;
pub mod hogs;
pub mod load;
mod percentiles;
pub mod periodic;
pub mod player;
mod presence;
mod process;
pub mod readers;
pub mod render;
pub mod schbench;
mod shared;
mod start;
pub mod stress;
pub mod usage;
pub mod yielders;

/// The programs, by the first word of a command line.
#[derive(Subcommand)]
pub enum Program {
    /// Work in the background until SIGTERM; print `ready`, and in the end what was done as JSON
    Load(load::Arguments),
    /// Measure how much this machine computes in a millisecond, for `periodic` and loads
    Calibrate(burn::Calibrate),
    /// Count in several processes at once and print how long it took
    Counters(counters::Arguments),
    /// Run processes that only use the CPU; print what each got as one JSON line
    Hogs(hogs::Hogs),
    /// Read a number from each line of standard input; print how many, percentiles and the largest as one JSON line
    Percentiles,
    /// Wake at deadlines and compute; print latencies and deadlines met as one JSON line
    Periodic(periodic::Periodic),
    /// Read in several threads; print what each got as one JSON line
    Readers(readers::Readers),
    /// Run a program that renders; print estimates of its end and its CPU use as one JSON line
    Render(render::Render),
    /// Play a scene of tasks that run, sleep and wait for each other by a script; print what each saw as one JSON line
    Scene(player::Play),
    /// Wake workers by message threads; print latencies of wake-ups and requests as one JSON line
    Schbench(schbench::Schbench),
    /// Disturb a scheduler in every way a program can; print what was done as one JSON line
    Stress(stress::Stress),
    /// Yield in many threads at once; print how long one yield takes as one JSON line
    Yielders(yielders::Yielders),
}

impl Program {
    /// Runs it to its end and prints its results.
    ///
    /// # Errors
    /// The program cannot do its work here; the message says why.
    pub fn run(&self) -> Result<ExitCode> {
        match self {
            Self::Load(load) => return load::run(load),
            Self::Stress(stress) => return stress.run(),
            Self::Render(render) => return render.run(),
            Self::Scene(play) => return play.run(),
            Self::Calibrate(calibrate) => calibrate.run()?,
            Self::Counters(counters) => counters::run(counters)?,
            Self::Hogs(hogs) => output::json(&hogs.run()?)?,
            Self::Percentiles => output::json(&column::sum_up(std::io::stdin().lock())?)?,
            Self::Periodic(periodic) => output::json(&periodic.run()?)?,
            Self::Readers(readers) => output::json(&readers.run()?)?,
            Self::Schbench(schbench) => output::json(&schbench.run()?)?,
            Self::Yielders(yielders) => output::json(&yielders.run()?)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
