// SPDX-License-Identifier: GPL-2.0-only
//! A load: work that runs while another is measured, from before its start to after its end.

use std::os::unix::process::ExitStatusExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use machine::cgroup::{CpuTime, Purpose};
use machine::command::{self, Surroundings};
use machine::containment::Containment;
use machine::process::{Ended, Process, Waited};
use machine::root::Root;
use machine::scratch::tail;
use nix::libc;
use protocol::Load;
use regex::Regex;
use rustix::process::Signal;
use settings::WorkSettings;

/// Longest wait for a load that was asked to end; then it is killed.
const END_LIMIT: Duration = Duration::from_secs(30);
/// A load below this share of a CPU that also counted nothing was idle.
const LEAST_CPU: f64 = 0.001;
const LOOK: Duration = Duration::from_millis(10);

pub struct Background<'a> {
    name: &'a str,
    settings: &'a WorkSettings,
    process: Process,
    containment: Containment,
    since: Instant,
    before: CpuTime,
}

/// What the load used while the workload ran, and how long it took to end.
pub struct LoadUsage {
    /// Time from the moment the load was ready to its end.
    pub elapsed: Duration,
    /// CPU time of the load while the workload ran.
    pub cpu: CpuTime,
    /// How long the workload ran.
    worked: Duration,
}

impl LoadUsage {
    /// Whether the load used so little CPU time that only its own counters can show that it ran.
    /// How much work fits into that time depends on the processor.
    pub fn is_idle(&self) -> bool {
        self.cpu.total_s() < LEAST_CPU * self.worked.as_secs_f64()
    }
}

impl<'a> Background<'a> {
    /// Starts the load and waits until it says that it is ready.
    pub fn start(
        load: &'a Load,
        settings: &'a WorkSettings,
        context: &Surroundings,
    ) -> Result<Self> {
        let ready = load.ready.as_deref().map(Regex::new).transpose()?;
        let containment = Containment::create(&Root::machine(), Purpose::Load)?;
        settings.limit(containment.cgroup())?;
        let process = command::start(&load.work.command, context, &containment)?;
        let mut background = Self {
            name: &load.work.name,
            settings,
            process,
            before: CpuTime::default(),
            containment,
            since: Instant::now(),
        };
        if let Some(ready) = ready {
            background.await_ready(&ready, context)?;
        }
        background.require_settings()?;
        background.since = Instant::now();
        background.before = background.containment.cgroup().cpu_time()?;
        Ok(background)
    }

    fn await_ready(&mut self, ready: &Regex, context: &Surroundings) -> Result<()> {
        let start = Instant::now();
        while !ready.is_match(&tail(&context.scratch.stdout())) {
            self.require_running(context)?;
            let (limit, name) = (context.timeout, self.name);
            ensure!(
                start.elapsed() < limit,
                "the load `{name}` was not ready within {} s",
                limit.as_secs_f64()
            );
            ensure!(!context.stop.requested(), "the load `{name}` was stopped on request");
            sleep(LOOK);
        }
        Ok(())
    }

    fn require_running(&mut self, context: &Surroundings) -> Result<()> {
        if let Some(ended) = self.reap(Duration::ZERO)? {
            let words = tail(&context.scratch.stderr());
            let reason = words.trim_end().lines().next_back().unwrap_or_default();
            anyhow::bail!("the load `{}` ended too early ({}): {reason}", self.name, ended.status);
        }
        ensure!(
            self.containment.holds(&self.process),
            "the load `{}` left its control group",
            self.name
        );
        Ok(())
    }

    fn require_settings(&self) -> Result<()> {
        let of_group = self.settings.objection(self.containment.cgroup());
        match of_group.or_else(|| self.settings.objection_to(self.process.id())) {
            Some(reason) => anyhow::bail!("the load `{}`: {reason}", self.name),
            None => Ok(()),
        }
    }

    fn reap(&mut self, limit: Duration) -> Result<Option<Ended>> {
        self.process.reap(limit).context("cannot wait for the load")
    }

    /// Ends the load and returns what it used; it must have run all the time.
    ///
    /// # Errors
    /// The load ended too early, or does not end.
    pub fn end(mut self, context: &Surroundings) -> Result<LoadUsage> {
        self.require_running(context)?;
        self.require_settings()?;
        let (after, worked) = (self.containment.cgroup().cpu_time()?, self.since.elapsed());
        let cpu = CpuTime {
            user_s: after.user_s - self.before.user_s,
            system_s: after.system_s - self.before.system_s,
        };
        self.process.signal(Signal::TERM);
        let heard = self.process.wait(END_LIMIT, Some(context.stop));
        let heard = heard.context("cannot wait for the load")?;
        ensure!(heard != Waited::Stopped, "the load `{}` was stopped on request", self.name);
        let ended = self.reap(Duration::ZERO)?;
        let ended = ended.with_context(|| {
            let limit = END_LIMIT.as_secs();
            format!("the load `{}` did not end within {limit} s and was killed", self.name)
        })?;
        ensure!(
            ended.status.success() || ended.status.signal() == Some(libc::SIGTERM),
            "the load `{}` ended badly: {}",
            self.name,
            ended.status
        );
        let elapsed = self.since.elapsed();
        let outside = command::outside(&ended, &self.containment)?;
        ensure!(outside.is_nothing(), "the load `{}` {outside}", self.name);
        self.containment
            .end()
            .with_context(|| format!("the load `{}` has not ended", self.name))?;
        Ok(LoadUsage { elapsed, cpu, worked })
    }
}
