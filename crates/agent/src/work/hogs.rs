// SPDX-License-Identifier: GPL-2.0-only
//! Processes that do nothing but use the CPU, and how much of it they get.

mod presence;

use std::fs::{File, OpenOptions};
use std::io::{PipeReader, Read, Write, pipe};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::process::{now, spawn};
use presence::{Interval, MOST_INTERVALS, Presence, Timeline, interval};

#[derive(Debug, Args)]
pub struct Hogs {
    /// Nice value of each hog
    #[arg(long, value_delimiter = ',', default_value = "0", allow_hyphen_values = true)]
    nice: Vec<i8>,
    /// How long they run
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// The CPU all of them must use
    #[arg(long)]
    cpu: Option<usize>,
    /// Run under SCHED_BATCH or SCHED_IDLE; one for all, or one for each hog
    #[arg(long, value_enum, value_delimiter = ',', default_value = "normal")]
    policy: Vec<Policy>,
    /// Also run a process that sleeps this long again and again and notes how late it wakes
    #[arg(long, value_name = "MS")]
    sleeper_ms: Option<u64>,
    /// How long that process uses the CPU after each sleep
    #[arg(long, value_name = "MS", default_value_t = 0, requires = "sleeper_ms")]
    burst_ms: u64,
    /// Nice value of that process
    #[arg(long, default_value_t = 0, allow_hyphen_values = true, requires = "sleeper_ms")]
    sleeper_nice: i8,
    /// What that process asks for at a time, of a scheduler that lets it (sched_setattr)
    #[arg(long, value_name = "US", requires = "sleeper_ms",
          value_parser = clap::value_parser!(u64).range(100..=100_000))]
    sleeper_slice_us: Option<u64>,
    /// Append to this file a line of JSON: when each was on a CPU, in ms from their common start
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Policy {
    Normal,
    Batch,
    Idle,
}

/// What one hog got.
#[derive(Debug, Serialize, Deserialize)]
pub struct Share {
    pub nice: i8,
    pub cpu_s: f64,
    /// Longest time between two looks at the clock.
    pub longest_gap_ms: f64,
    /// How often it lost the CPU.
    pub gaps: u64,
}

/// What the sleeper saw.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lateness {
    pub wakeups: u64,
    pub mean_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

#[derive(Debug, Serialize)]
pub struct Report {
    pub elapsed_s: f64,
    pub hogs: Vec<Share>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleeper: Option<Lateness>,
}

/// One process of the timeline.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    task: String,
    nice: i8,
    #[serde(flatten)]
    timeline: Timeline,
    /// Of the sleeper: when it should have woken, and when it ran.
    wakes: Vec<Interval>,
}

impl Hogs {
    /// Runs them and reports what they got.
    ///
    /// # Errors
    /// A process cannot be started or put where it was asked for.
    pub fn run(&self) -> Result<Report> {
        ensure!(self.seconds > 0.0 && self.seconds.is_finite(), "--seconds must be positive");
        ensure!(
            self.policy.len() == 1 || self.policy.len() == self.nice.len(),
            "{} policies for {} hogs: give one for all, or one for each",
            self.policy.len(),
            self.nice.len()
        );
        if let Some(cpu) = self.cpu {
            let mut set = CpuSet::new();
            set.set(cpu)?;
            sched_setaffinity(Pid::from_raw(0), &set)
                .with_context(|| format!("cannot use only CPU {cpu}"))?;
        }
        let timeline = self.timeline.as_deref().map(open_to_append).transpose()?;
        // Late enough for all of them to be there, so that they start together.
        let start = now() + Duration::from_millis(50);
        let end = start + Duration::from_secs_f64(self.seconds);
        let hogs: Vec<_> = self
            .nice
            .iter()
            .zip(self.policy.iter().cycle())
            .map(|(&nice, &policy)| in_child(|| hog(nice, policy, start, end)))
            .collect::<Result<_>>()?;
        let sleeper = match self.sleeper_ms {
            Some(ms) => Some(in_child(|| self.sleeper(Duration::from_millis(ms), start, end))?),
            None => None,
        };
        let hogs = hogs.into_iter().map(Answer::wait).collect::<Result<Vec<(Share, Row)>>>()?;
        let sleeper = sleeper.map(Answer::wait).transpose()?;
        let elapsed_s = (now() - start).as_secs_f64();
        let (hogs, mut rows): (_, Vec<_>) = hogs.into_iter().unzip();
        let (sleeper, row) = sleeper.unzip();
        rows.extend(row);
        if let Some(mut file) = timeline {
            writeln!(file, "{}", serde_json::json!({ "timeline": rows }))
                .context("cannot write the timeline")?;
        }
        Ok(Report { elapsed_s, hogs, sleeper })
    }

    fn sleeper(&self, nap: Duration, start: Duration, end: Duration) -> Result<(Lateness, Row)> {
        set_nice(self.sleeper_nice)?;
        if let Some(us) = self.sleeper_slice_us {
            set_slice(Duration::from_micros(us))?;
        }
        std::thread::sleep(start.saturating_sub(now()));
        let mut presence = Presence::new(start, end);
        let (mut late_us, mut wakes) = (Vec::new(), Vec::new());
        while now() < end {
            let due = now() + nap;
            std::thread::sleep(nap);
            let woke = now();
            late_us.push(woke.saturating_sub(due).as_secs_f64() * 1e6);
            if wakes.len() < MOST_INTERVALS {
                wakes.push(interval(due, woke, start));
            }
            presence.return_at(woke);
            let enough = presence.there() + Duration::from_millis(self.burst_ms);
            while presence.there() < enough && presence.look() {}
        }
        let (task, nice, timeline) = ("sleeper".into(), self.sleeper_nice, presence.timeline());
        Ok((lateness(late_us)?, Row { task, nice, timeline, wakes }))
    }
}

fn open_to_append(path: &Path) -> Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))
}

fn hog(nice: i8, policy: Policy, start: Duration, end: Duration) -> Result<(Share, Row)> {
    set_policy(policy)?;
    set_nice(nice)?;
    std::thread::sleep(start.saturating_sub(now()));
    let used = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    let mut presence = Presence::new(start, end);
    while presence.look() {}
    let used = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)? - used;
    let share = Share {
        nice,
        cpu_s: Duration::from(used).as_secs_f64(),
        longest_gap_ms: presence.longest_gap().as_secs_f64() * 1e3,
        gaps: presence.gaps(),
    };
    let (task, timeline) = ("hog".into(), presence.timeline());
    Ok((share, Row { task, nice, timeline, wakes: Vec::new() }))
}

fn lateness(mut late_us: Vec<f64>) -> Result<Lateness> {
    late_us.sort_by(f64::total_cmp);
    let count = late_us.len();
    ensure!(count > 0, "the sleeper never woke");
    Ok(Lateness {
        wakeups: count as u64,
        mean_us: late_us.iter().sum::<f64>() / count as f64,
        p99_us: late_us[(count * 99).div_ceil(100).clamp(1, count) - 1],
        max_us: late_us[count - 1],
    })
}

fn set_nice(nice: i8) -> Result<()> {
    // SAFETY: a plain system call on this process.
    let failed = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, i32::from(nice)) } != 0;
    ensure!(!failed, "cannot set nice {nice}: {}", std::io::Error::last_os_error());
    Ok(())
}

/// Linux 6.12 takes the runtime of a task that is not SCHED_DEADLINE as its slice.
fn set_slice(slice: Duration) -> Result<()> {
    // SAFETY: a plain system call on this process with attributes that live longer.
    let failed = unsafe {
        let mut attributes = std::mem::zeroed::<libc::sched_attr>();
        attributes.size = size_of::<libc::sched_attr>() as u32;
        attributes.sched_policy = libc::SCHED_OTHER as u32;
        attributes.sched_nice = libc::getpriority(libc::PRIO_PROCESS, 0);
        attributes.sched_runtime = slice.as_nanos() as u64;
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0)
    } != 0;
    ensure!(!failed, "cannot ask for {slice:?} at a time: {}", std::io::Error::last_os_error());
    Ok(())
}

fn set_policy(policy: Policy) -> Result<()> {
    let number = match policy {
        Policy::Normal => return Ok(()),
        Policy::Batch => libc::SCHED_BATCH,
        Policy::Idle => libc::SCHED_IDLE,
    };
    // SAFETY: all zero is the only valid parameter of these policies.
    let failed = unsafe {
        let parameter = std::mem::zeroed::<libc::sched_param>();
        libc::sched_setscheduler(0, number, &parameter)
    } != 0;
    ensure!(!failed, "cannot set {policy:?}: {}", std::io::Error::last_os_error());
    Ok(())
}

/// The result that a child process will write.
struct Answer {
    child: Pid,
    pipe: PipeReader,
}

fn in_child<T: Serialize>(work: impl FnOnce() -> Result<T>) -> Result<Answer> {
    let (reader, mut writer) = pipe()?;
    let child = spawn(|| {
        let result = work().map_err(|error| format!("{error:#}"));
        serde_json::to_writer(&mut writer, &result).is_ok() && writer.flush().is_ok()
    })?;
    Ok(Answer { child, pipe: reader })
}

impl Answer {
    fn wait<T: for<'de> Deserialize<'de>>(mut self) -> Result<T> {
        let mut text = String::new();
        self.pipe.read_to_string(&mut text)?;
        let status = waitpid(self.child, None)?;
        if status != WaitStatus::Exited(self.child, 0) {
            bail!("a process ended early: {status:?}");
        }
        serde_json::from_str::<Result<T, String>>(&text)?.map_err(anyhow::Error::msg)
    }
}
