// SPDX-License-Identifier: GPL-2.0-only
//! A load: work that runs beside the measured one, from before its start to after its end.

use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use regex::Regex;

use crate::cgroup::{Cgroup, CpuTime};
use crate::child::{self, Surroundings};
use crate::protocol::Load;

/// What ends between the request and this is waited for; the rest is killed.
const END_LIMIT: Duration = Duration::from_secs(30);
/// Who uses less of a CPU than this while the workload runs does not work, but only waits.
const LEAST_CPU: f64 = 0.001;
const LOOK: Duration = Duration::from_millis(10);

pub struct Background<'a> {
    name: &'a str,
    child: Child,
    cgroup: Cgroup,
    since: Instant,
    before: CpuTime,
}

/// What the load used while the workload ran, and how long it took to end.
pub struct Used {
    /// From the workload's start to the load's end.
    pub elapsed: Duration,
    /// While the workload ran.
    pub cpu: CpuTime,
}

impl<'a> Background<'a> {
    /// Starts the load and waits until it says that it is ready.
    pub fn start(load: &'a Load, around: &Surroundings) -> Result<Self> {
        let ready = load.ready.as_deref().map(Regex::new).transpose()?;
        let cgroup = Cgroup::create("load")?;
        let child = child::start(&load.work.command, around, &cgroup)?;
        let mut background = Self {
            name: &load.work.name,
            child,
            before: CpuTime::default(),
            cgroup,
            since: Instant::now(),
        };
        if let Some(ready) = ready {
            background.await_ready(&ready, around)?;
        }
        background.since = Instant::now();
        background.before = background.cgroup.cpu_time()?;
        Ok(background)
    }

    fn await_ready(&mut self, ready: &Regex, around: &Surroundings) -> Result<()> {
        let start = Instant::now();
        while !ready.is_match(&child::tail(&around.scratch.stdout())) {
            self.require_running(around)?;
            let (limit, name) = (around.timeout, self.name);
            anyhow::ensure!(
                start.elapsed() < limit,
                "the load `{name}` was not ready within {} s",
                limit.as_secs_f64()
            );
            anyhow::ensure!(!around.stop.requested(), "the load `{name}` was stopped on request");
            sleep(LOOK);
        }
        Ok(())
    }

    /// A load that has ended is none.
    fn require_running(&mut self, around: &Surroundings) -> Result<()> {
        if let Some(status) = self.child.try_wait().context("cannot wait for the load")? {
            let words = child::tail(&around.scratch.stderr());
            let reason = words.trim_end().lines().next_back().unwrap_or_default();
            anyhow::bail!("the load `{}` ended too early ({status}): {reason}", self.name);
        }
        Ok(())
    }

    /// Ends the load and says what it used; it must have worked all the time.
    pub fn end(mut self, around: &Surroundings) -> Result<Used> {
        self.require_running(around)?;
        let (after, worked) = (self.cgroup.cpu_time()?, self.since.elapsed());
        let cpu = CpuTime {
            user_s: after.user_s - self.before.user_s,
            system_s: after.system_s - self.before.system_s,
        };
        kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGTERM)?;
        let asked = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            anyhow::ensure!(
                asked.elapsed() < END_LIMIT,
                "the load `{}` did not end within {} s and was killed",
                self.name,
                END_LIMIT.as_secs()
            );
            sleep(LOOK);
        };
        use std::os::unix::process::ExitStatusExt;
        anyhow::ensure!(
            status.success() || status.signal() == Some(libc::SIGTERM),
            "the load `{}` ended badly: {status}",
            self.name
        );
        anyhow::ensure!(
            cpu.user_s + cpu.system_s >= LEAST_CPU * worked.as_secs_f64(),
            "the load `{}` used no CPU time, so it did not run",
            self.name
        );
        Ok(Used { elapsed: self.since.elapsed(), cpu })
    }
}

impl Drop for Background<'_> {
    fn drop(&mut self) {
        self.cgroup.kill();
        // It may have been waited for already.
        let _ = self.child.wait();
    }
}
