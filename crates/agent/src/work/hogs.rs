// SPDX-License-Identifier: GPL-2.0-only
//! Processes that do nothing but use the CPU, and how much of it they get.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{ForkResult, Pid, fork};
use serde::{Deserialize, Serialize};
use std::io::{PipeReader, Read, Write, pipe};

/// Longer pauses between two looks at the clock are time without the CPU, not the loop's own.
const GAP: Duration = Duration::from_micros(50);

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
    /// Run under SCHED_BATCH or SCHED_IDLE
    #[arg(long, value_enum, default_value_t = Policy::Normal)]
    policy: Policy,
    /// Also run a process that sleeps this long again and again and notes how late it wakes
    #[arg(long, value_name = "MS")]
    sleeper_ms: Option<u64>,
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

impl Hogs {
    /// Runs them and reports what they got.
    ///
    /// # Errors
    /// A process cannot be started or put where it was asked for.
    pub fn run(&self) -> Result<Report> {
        ensure!(self.seconds > 0.0 && self.seconds.is_finite(), "--seconds must be positive");
        if let Some(cpu) = self.cpu {
            let mut set = CpuSet::new();
            set.set(cpu)?;
            sched_setaffinity(Pid::from_raw(0), &set)
                .with_context(|| format!("cannot use only CPU {cpu}"))?;
        }
        let begin = now()?;
        // Late enough for all of them to be there, so that they start together.
        let start = begin + Duration::from_millis(50);
        let end = start + Duration::from_secs_f64(self.seconds);
        let hogs: Vec<_> = self
            .nice
            .iter()
            .map(|&nice| in_child(|| hog(nice, self.policy, start, end)))
            .collect::<Result<_>>()?;
        let sleeper = match self.sleeper_ms {
            Some(ms) => Some(in_child(|| sleeper(Duration::from_millis(ms), start, end))?),
            None => None,
        };
        let hogs = hogs.into_iter().map(Answer::wait).collect::<Result<_>>()?;
        let sleeper = sleeper.map(Answer::wait).transpose()?;
        Ok(Report { elapsed_s: (now()? - start).as_secs_f64(), hogs, sleeper })
    }
}

fn hog(nice: i8, policy: Policy, start: Duration, end: Duration) -> Result<Share> {
    set_policy(policy)?;
    // SAFETY: a plain system call on this process.
    let failed = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, i32::from(nice)) } != 0;
    ensure!(!failed, "cannot set nice {nice}: {}", std::io::Error::last_os_error());
    std::thread::sleep(start.saturating_sub(now()?));
    let used = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    let (mut last, mut longest, mut gaps) = (start, Duration::ZERO, 0);
    while last < end {
        let next = now()?;
        let gap = next.min(end).saturating_sub(last);
        longest = longest.max(gap);
        gaps += u64::from(gap > GAP);
        last = next;
    }
    let used = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)? - used;
    let cpu_s = Duration::from(used).as_secs_f64();
    Ok(Share { nice, cpu_s, longest_gap_ms: longest.as_secs_f64() * 1e3, gaps })
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

fn sleeper(nap: Duration, start: Duration, end: Duration) -> Result<Lateness> {
    std::thread::sleep(start.saturating_sub(now()?));
    let mut late_us = Vec::new();
    while now()? < end {
        let due = now()? + nap;
        std::thread::sleep(nap);
        late_us.push(now()?.saturating_sub(due).as_secs_f64() * 1e6);
    }
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

fn now() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_MONOTONIC)?.into())
}

/// The result that a child process will write.
struct Answer {
    child: Pid,
    pipe: PipeReader,
}

fn in_child<T: Serialize>(work: impl FnOnce() -> Result<T>) -> Result<Answer> {
    let (reader, mut writer) = pipe()?;
    // SAFETY: this program has one thread here; the child only works and exits.
    match unsafe { fork() }.context("cannot start a process")? {
        ForkResult::Parent { child } => Ok(Answer { child, pipe: reader }),
        ForkResult::Child => {
            let result = work().map_err(|error| format!("{error:#}"));
            let sent =
                serde_json::to_writer(&mut writer, &result).is_ok() && writer.flush().is_ok();
            // Not exit(): what the parent had buffered is the parent's to write.
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(i32::from(!sent)) }
        }
    }
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
