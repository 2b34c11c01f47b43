// SPDX-License-Identifier: GPL-2.0-only
//! interbench's tasks: they wake at a deadline, compute, and have to be done by the next one (version 0.31).

mod deadlines;
mod latencies;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use nix::sys::prctl;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use serde::Serialize;

use super::burn::Calibration;
use crate::figures::as_f64;
use crate::usage::length;
use deadlines::Deadlines;
use latencies::Latencies;
use machine::clock::now;

#[derive(Debug, Args)]
pub struct Periodic {
    #[arg(long, value_enum)]
    task: Task,
    /// How long it goes on
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = length)]
    seconds: Duration,
    /// What `calibrate` has written
    #[arg(long, value_name = "FILE")]
    calibration: PathBuf,
}

/// interbench 0.31, emulate_audio and the functions after it.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Task {
    /// 2.5 ms every 50 ms
    Audio,
    /// 40 % of every 60th of a second
    Video,
    /// 0 to 100 ms every 100 ms, 1 ms more each time
    X,
    /// 100 ms again and again without a pause
    Gaming,
}

#[derive(Debug, Default, Serialize)]
pub struct Figures {
    mean_us: f64,
    sd_us: f64,
    sd_compat_us: f64,
    max_us: u64,
    /// How often the task was awake.
    samples: u64,
    /// Work done, in percent of the wanted work.
    desired_cpu_pct: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadlines: Option<Counts>,
    loops_per_ms: u64,
}

/// How many deadlines were met.
#[derive(Debug, Serialize)]
struct Counts {
    met_pct: f64,
    met: u64,
    missed: u64,
}

impl Periodic {
    /// # Errors
    /// There is no calibration, or the timer's slack cannot be set.
    pub fn run(&self) -> Result<Figures> {
        let calibration = Calibration::read(&self.calibration)?;
        let end = now() + self.seconds;
        let over = || now() >= end;
        let report = match self.task {
            Task::Gaming => without_pause(calibration, over),
            task => with_deadlines(&wake_and_work(task, calibration, over)?),
        };
        Ok(Figures { loops_per_ms: calibration.loops_per_ms(), ..report })
    }
}

impl Task {
    fn interval(self) -> Duration {
        match self {
            Self::Audio => Duration::from_millis(50),
            Self::Video => Duration::from_micros(1_000_000 / 60),
            Self::X | Self::Gaming => Duration::from_millis(100),
        }
    }

    /// How long the task computes when it wakes for the `nth` time.
    fn work(self, nth: u32) -> Duration {
        match self {
            Self::Audio => self.interval() / 20,
            Self::Video => self.interval() * 2 / 5,
            Self::X => Duration::from_millis((nth % 101).into()),
            Self::Gaming => self.interval(),
        }
    }
}

/// Runs a task with deadlines until `over`.
pub fn wake_and_work(
    task: Task,
    calibration: Calibration,
    over: impl Fn() -> bool,
) -> Result<Deadlines> {
    // The default slack of 50 us would be part of every latency.
    prctl::set_timerslack(1).context("cannot set the timer's slack")?;
    let mut deadlines = Deadlines::starting_at(us(now()), us(task.interval()));
    for nth in 0.. {
        if deadlines.wake(us(now())) {
            calibration.burn(task.work(nth));
            deadlines.worked(us(now()));
        }
        sleep_until(deadlines.due(), &over);
        if over() {
            break;
        }
    }
    Ok(deadlines)
}

fn sleep_until(due_us: u64, over: impl Fn() -> bool) {
    let due = Duration::from_micros(due_us);
    let (clock, flag) = (ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME);
    // A signal that ends the sleep may be the request to end all.
    while clock_nanosleep(clock, flag, &TimeSpec::from_duration(due)).is_err() && !over() {}
}

fn with_deadlines(deadlines: &Deadlines) -> Figures {
    let counts = Counts {
        met_pct: percent(deadlines.met, deadlines.missed),
        met: deadlines.met,
        missed: deadlines.missed,
    };
    Figures {
        desired_cpu_pct: percent(deadlines.burns, deadlines.missed_burns),
        deadlines: Some(counts),
        ..spread(&deadlines.latencies)
    }
}

/// Runs a game, which draws as much as it can: its latency is the time that it takes longer than
/// the work itself.
fn without_pause(calibration: Calibration, over: impl Fn() -> bool) -> Figures {
    let (mut latencies, mut burnt_us, mut lost_us) = (Latencies::default(), 0, 0);
    while !over() {
        let due = now() + Task::Gaming.interval();
        calibration.burn(Task::Gaming.work(0));
        let late_us = us(now().saturating_sub(due));
        latencies.add(late_us);
        burnt_us += us(Task::Gaming.interval());
        lost_us += late_us;
    }
    Figures { desired_cpu_pct: percent(burnt_us, lost_us), ..spread(&latencies) }
}

fn spread(latencies: &Latencies) -> Figures {
    Figures {
        mean_us: latencies.mean_us(),
        sd_us: latencies.sd_us(),
        sd_compat_us: latencies.sd_compat_us(),
        max_us: latencies.max_us,
        samples: latencies.count(),
        ..Figures::default()
    }
}

fn percent(done: u64, lost: u64) -> f64 {
    if done == 0 { 0.0 } else { 100.0 * as_f64(done) / as_f64(done + lost) }
}

fn us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
