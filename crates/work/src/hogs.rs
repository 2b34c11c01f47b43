// SPDX-License-Identifier: GPL-2.0-only
//! Processes that do nothing but use the CPU, and how much of it they get.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::figures::as_f64;
use crate::percentiles::{P99, of_sorted};
use crate::presence::Presence;
use crate::process::Answer;
use crate::start;
use crate::usage::{Usage, length};
use machine::clock::now;
use machine::sched::{self, Policy, THIS_THREAD};

/// The longest sleep or burst: an hour.
const LONGEST_MS: u64 = 3_600_000;

#[derive(Debug, Args)]
pub struct Hogs {
    /// Nice value of each hog
    #[arg(long, value_delimiter = ',', default_value = "0", allow_hyphen_values = true,
          value_parser = clap::value_parser!(i8).range(-20..=19))]
    nice: Vec<i8>,
    /// How long they run
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = length)]
    seconds: Duration,
    /// The CPU all of them must use
    #[arg(long)]
    cpu: Option<usize>,
    /// Run under SCHED_BATCH or SCHED_IDLE; one for all, or one for each hog
    #[arg(long, value_delimiter = ',', default_value = "normal",
          value_parser = PossibleValuesParser::new(["normal", "batch", "idle"]).map(policy))]
    policy: Vec<Policy>,
    /// Also run a process that sleeps this long again and again and notes how late it wakes
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(..=LONGEST_MS))]
    sleeper_ms: Option<u64>,
    /// How long that process uses the CPU after each sleep
    #[arg(long, value_name = "MS", default_value_t = 0, requires = "sleeper_ms",
          value_parser = clap::value_parser!(u64).range(..=LONGEST_MS))]
    burst_ms: u64,
    /// Nice value of that process
    #[arg(long, default_value_t = 0, allow_hyphen_values = true, requires = "sleeper_ms",
          value_parser = clap::value_parser!(i8).range(-20..=19))]
    sleeper_nice: i8,
    /// What that process asks for at a time, of a scheduler that lets it (sched_setattr)
    #[arg(long, value_name = "US", requires = "sleeper_ms",
          value_parser = clap::value_parser!(u64).range(100..=100_000))]
    sleeper_slice_us: Option<u64>,
}

/// The CPU that one hog got.
#[derive(Debug, Serialize, Deserialize)]
pub struct Share {
    pub nice: i8,
    pub cpu_s: f64,
    /// Longest time between two looks at the clock.
    pub longest_gap_ms: f64,
    /// How often it lost the CPU.
    pub gaps: u64,
}

/// The lateness of the sleeper's wake-ups.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lateness {
    pub wakeups: u64,
    pub mean_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

#[derive(Debug, Serialize)]
pub struct Figures {
    pub elapsed_s: f64,
    pub hogs: Vec<Share>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleeper: Option<Lateness>,
}

impl Hogs {
    /// Runs them and reports what they got.
    ///
    /// # Errors
    /// A process cannot be started, or its settings are refused.
    pub fn run(&self) -> Result<Figures> {
        let (policies, hogs) = (self.policy.len(), self.nice.len());
        if policies != 1 && policies != hogs {
            bail!(Usage(format!(
                "{policies} policies for {hogs} hogs: give one for all, or one for each"
            )));
        }
        if let Some(cpu) = self.cpu {
            sched::use_only(THIS_THREAD, &[cpu])
                .with_context(|| format!("cannot use only CPU {cpu}"))?;
        }
        // Late enough that all processes exist and start together.
        let start = now() + Duration::from_millis(50);
        let end = start + self.seconds;
        let count = self.nice.len() + usize::from(self.sleeper_ms.is_some());
        let mut policies = self.policy.iter().cycle();
        let start_one = |index| match (self.nice.get(index), policies.next(), self.sleeper_ms) {
            (Some(&nice), Some(&policy), _) => Answer::of(|| hog(nice, policy, start, end)),
            (.., nap) => {
                let nap = Duration::from_millis(nap.unwrap_or_default());
                Answer::of(|| self.sleeper(nap, start, end))
            }
        };
        let mut children = start::all("process", count, start_one, Answer::kill)?;
        let sleeper = children.split_off(self.nice.len()).pop();
        let hogs = children.into_iter().map(Answer::wait).collect::<Result<Vec<Share>>>()?;
        let sleeper = sleeper.map(Answer::wait).transpose()?;
        let elapsed_s = (now() - start).as_secs_f64();
        Ok(Figures { elapsed_s, hogs, sleeper })
    }

    fn sleeper(&self, nap: Duration, start: Duration, end: Duration) -> Result<Lateness> {
        set_nice(self.sleeper_nice)?;
        if let Some(us) = self.sleeper_slice_us {
            sched::set_slice(Duration::from_micros(us))
                .with_context(|| format!("cannot ask for {us} us at a time"))?;
        }
        std::thread::sleep(start.saturating_sub(now()));
        let mut presence = Presence::new(start, end);
        let mut late_us = Vec::new();
        while now() < end {
            let due = now() + nap;
            std::thread::sleep(nap);
            let woke = now();
            late_us.push(woke.saturating_sub(due).as_secs_f64() * 1e6);
            presence.return_at(woke);
            let enough = presence.there() + Duration::from_millis(self.burst_ms);
            while presence.there() < enough && presence.look() {}
        }
        lateness(late_us)
    }
}

/// The policy for a word that the command line allows.
fn policy(word: String) -> Policy {
    match word.as_str() {
        "batch" => Policy::Batch,
        "idle" => Policy::Idle,
        _ => Policy::Normal,
    }
}

fn hog(nice: i8, policy: Policy, start: Duration, end: Duration) -> Result<Share> {
    if policy != Policy::Normal {
        sched::set_policy(THIS_THREAD, policy).with_context(|| format!("cannot set {policy:?}"))?;
    }
    set_nice(nice)?;
    std::thread::sleep(start.saturating_sub(now()));
    let used = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    let mut presence = Presence::new(start, end);
    while presence.look() {}
    let used = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)? - used;
    Ok(Share {
        nice,
        cpu_s: Duration::from(used).as_secs_f64(),
        longest_gap_ms: presence.longest_gap().as_secs_f64() * 1e3,
        gaps: presence.gaps(),
    })
}

fn lateness(mut late_us: Vec<f64>) -> Result<Lateness> {
    late_us.sort_by(f64::total_cmp);
    let count = late_us.len();
    ensure!(count > 0, "the sleeper never woke");
    Ok(Lateness {
        wakeups: count as u64,
        mean_us: late_us.iter().sum::<f64>() / as_f64(count),
        p99_us: of_sorted(&late_us, P99).unwrap_or_default(),
        max_us: late_us[count - 1],
    })
}

fn set_nice(nice: i8) -> Result<()> {
    sched::set_nice(THIS_THREAD, nice).with_context(|| format!("cannot set nice {nice}"))
}
