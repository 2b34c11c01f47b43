// SPDX-License-Identifier: GPL-2.0-only
//! Watches a program that renders: estimates on the way of when it will be ready, and its CPU use.
//! The estimate is the time so far divided by the share of the frames that is done.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use serde::Serialize;

use crate::figures::as_f64;
use crate::percentiles::{P5, of_sorted};
use crate::start::refused;
use machine::lifeline::bind_to_us;
use machine::output;

/// Points of the estimates, in percent of the frames.
const MARKS: [u32; 4] = [10, 25, 50, 75];
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
pub struct Render {
    /// Length of the result
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    seconds: u32,
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    frames_a_second: u32,
    /// A program that writes lines `frame=NUMBER`, as ffmpeg does with -progress pipe:1
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Figures {
    completion_s: f64,
    frames: u64,
    /// `estimate_50_s`: the whole time, as estimated when 50 % of the frames were done.
    #[serde(flatten)]
    estimates: BTreeMap<String, f64>,
    cpu_mean_pct: f64,
    cpu_p5_pct: f64,
    cpu_min_pct: f64,
    cpu_looks: usize,
}

/// How many frames were done at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Progress {
    at_s: f64,
    frames: u64,
}

impl Render {
    /// Runs the program, and ends with its status.
    ///
    /// # Errors
    /// The program cannot be started, or it renders another number of frames.
    pub fn run(&self) -> Result<ExitCode> {
        let total = u64::from(self.seconds) * u64::from(self.frames_a_second);
        let start = Instant::now();
        let mut child = bind_to_us(&mut Command::new(&self.command[0]))
            .args(&self.command[1..])
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.command[0]))?;
        let output = child.stdout.take().context("the program has no output")?;
        let (ended, over) = mpsc::channel::<()>();
        let looks = watch(&child, over).inspect_err(|_| {
            let _ = child.kill().and_then(|()| child.wait());
        })?;
        let log = read(output, start);
        let status = child.wait()?;
        let completion_s = start.elapsed().as_secs_f64();
        drop(ended);
        let looks = looks.join().unwrap_or_default();
        if !status.success() {
            return Ok(ExitCode::from(
                status.code().and_then(|code| code.try_into().ok()).unwrap_or(1),
            ));
        }
        let log = log?;
        let frames = log.last().map_or(0, |last| last.frames);
        ensure!(frames == total, "{frames} frames were rendered instead of {total}");
        let report = report(&log, completion_s, &looks)?;
        output::json(&report)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The CPU use of the program and all its threads in each tenth of a second, in percent of one CPU.
/// Its CPU clock has that to the nanosecond, even inside an image, where no cgroup is visible.
fn watch(child: &Child, over: mpsc::Receiver<()>) -> Result<thread::JoinHandle<Vec<f64>>> {
    let clock = clock_getcpuclockid(Pid::from_raw(child.id().cast_signed()))?;
    let used = move || clock.now().map(Duration::from);
    let (mut then, mut before) = (Instant::now(), used()?);
    let watching = thread::Builder::new().spawn(move || {
        let mut looks = Vec::new();
        // The clock ends with the program, so a last part shorter than a tenth is left out.
        while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let (Ok(after), now) = (used(), Instant::now()) else { break };
            let share = after.saturating_sub(before).as_secs_f64() / (now - then).as_secs_f64();
            looks.push(100.0 * share);
            (then, before) = (now, after);
        }
        looks
    });
    watching.map_err(|error| refused("the thread that watches the program", &error.into()))
}

/// Reads the progress that the program prints, until it ends.
fn read(output: ChildStdout, start: Instant) -> Result<Vec<Progress>> {
    let mut log = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line.context("cannot read the program's output")?;
        if let Some(frames) = line.strip_prefix("frame=").and_then(|word| word.trim().parse().ok())
        {
            log.push(Progress { at_s: start.elapsed().as_secs_f64(), frames });
        }
    }
    Ok(log)
}

fn report(log: &[Progress], completion_s: f64, looks: &[f64]) -> Result<Figures> {
    ensure!(!looks.is_empty(), "it was rendered in less than {LOOK:?}: take a longer clip");
    let mut sorted = looks.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut estimates = BTreeMap::new();
    for mark in MARKS {
        let share = f64::from(mark) / 100.0;
        let at_s = reached(log, share).context("the program said nothing of its progress")?;
        estimates.insert(format!("estimate_{mark}_s"), at_s / share);
    }
    Ok(Figures {
        completion_s,
        frames: log.last().map_or(0, |last| last.frames),
        estimates,
        cpu_mean_pct: looks.iter().sum::<f64>() / as_f64(looks.len()),
        cpu_p5_pct: of_sorted(&sorted, P5).unwrap_or_default(),
        cpu_min_pct: sorted[0],
        cpu_looks: looks.len(),
    })
}

/// When this share of the last line's frames was done, interpolated between two lines.
fn reached(log: &[Progress], share: f64) -> Option<f64> {
    let goal = as_f64(log.last()?.frames) * share;
    let after = log.iter().position(|line| as_f64(line.frames) >= goal)?;
    let before = after.checked_sub(1).map_or_else(Progress::default, |index| log[index]);
    let after = log[after];
    let part = (goal - as_f64(before.frames)) / as_f64(after.frames - before.frames);
    Some(before.at_s + part * (after.at_s - before.at_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Vec<Progress> {
        [(0.5, 0), (1.0, 20), (2.0, 60), (3.0, 100)]
            .map(|(at_s, frames)| Progress { at_s, frames })
            .to_vec()
    }

    #[test]
    fn a_share_is_reached_between_two_lines() {
        assert_eq!(reached(&log(), 0.10), Some(0.75));
        assert_eq!(reached(&log(), 0.50), Some(1.75));
        assert_eq!(reached(&log(), 1.0), Some(3.0));
        assert_eq!(reached(&[], 0.5), None);
    }

    #[test]
    fn an_estimate_is_the_time_so_far_over_the_share() -> Result<()> {
        let looks: Vec<_> = (1..=40).map(f64::from).collect();
        let report = report(&log(), 3.1, &looks)?;
        assert_eq!(report.estimates["estimate_10_s"], 7.5);
        assert_eq!(report.estimates["estimate_50_s"], 3.5);
        assert_eq!((report.cpu_min_pct, report.cpu_p5_pct, report.cpu_mean_pct), (1.0, 2.0, 20.5));
        assert_eq!((report.frames, report.cpu_looks), (100, 40));
        Ok(())
    }
}
