// SPDX-License-Identifier: GPL-2.0-only
//! Programs that run while a workload is measured, from before its start to after its end: a load
//! beside it, and the server that answers it.

pub mod load;
pub mod server;

use std::os::unix::process::ExitStatusExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use machine::cgroup::{Cgroup, CpuTime};
use machine::command::{self, Surroundings};
use machine::containment::Containment;
use machine::process::{Ended, Process, Waited};
use machine::scratch::tail;
use nix::libc;
use rustix::process::Signal;

/// Longest wait for a program that was asked to end; then it is killed.
const END_LIMIT: Duration = Duration::from_secs(30);
/// A program below this share of a CPU was idle.
const LEAST_CPU: f64 = 0.001;
const LOOK: Duration = Duration::from_millis(10);

struct Background<'a> {
    /// What messages call it.
    what: String,
    context: Surroundings<'a>,
    process: Process,
    containment: Containment,
    since: Instant,
    before: CpuTime,
}

/// What the program used while the workload ran, and how long it took to end.
pub struct Usage {
    /// Time from the start of the workload to the end of the program.
    pub elapsed: Duration,
    /// CPU time while the workload ran.
    pub cpu: CpuTime,
    /// How long the workload ran.
    worked: Duration,
}

impl Usage {
    /// Whether the program used next to no CPU time.
    pub fn is_idle(&self) -> bool {
        self.cpu.total_s() < LEAST_CPU * self.worked.as_secs_f64()
    }
}

impl<'a> Background<'a> {
    fn start(
        what: String,
        argv: &[String],
        containment: Containment,
        context: Surroundings<'a>,
    ) -> Result<Self> {
        let process = command::start(argv, &context, &containment)?;
        let (since, before) = (Instant::now(), CpuTime::default());
        Ok(Self { what, context, process, containment, since, before })
    }

    fn cgroup(&self) -> &Cgroup {
        self.containment.cgroup()
    }

    /// Waits for the program to be ready while it runs. `why_not` is called again and again until it returns None; what
    /// else it returns is part of the message if that takes too long.
    fn await_ready(&mut self, mut why_not: impl FnMut() -> Result<Option<String>>) -> Result<()> {
        let (start, limit) = (Instant::now(), self.context.timeout);
        while let Some(reason) = why_not()? {
            self.require_running()?;
            ensure!(
                start.elapsed() < limit,
                "{} was not ready within {} s{reason}",
                self.what,
                limit.as_secs_f64()
            );
            ensure!(!self.context.stop.requested(), "{} was stopped on request", self.what);
            sleep(LOOK);
        }
        Ok(())
    }

    /// Notes that the workload starts now.
    fn note_start(&mut self) -> Result<()> {
        self.since = Instant::now();
        self.before = self.cgroup().cpu_time()?;
        Ok(())
    }

    fn require_running(&mut self) -> Result<()> {
        if let Some(ended) = self.reap(Duration::ZERO)? {
            bail!("{} ended too early ({}){}", self.what, ended.status, last_words(&self.context));
        }
        let is_inside = self.containment.holds(&self.process);
        ensure!(is_inside, "{} left its control group", self.what);
        Ok(())
    }

    fn reap(&mut self, limit: Duration) -> Result<Option<Ended>> {
        self.process.reap(limit).with_context(|| format!("cannot wait for {}", self.what))
    }

    /// Ends the program and returns what it used; it must have run all the time.
    fn end(mut self) -> Result<Usage> {
        self.require_running()?;
        let (after, worked) = (self.cgroup().cpu_time()?, self.since.elapsed());
        let cpu = after - self.before;
        self.process.signal(Signal::TERM);
        let heard = self.process.wait(END_LIMIT, Some(self.context.stop));
        let heard = heard.with_context(|| format!("cannot wait for {}", self.what))?;
        ensure!(heard != Waited::Stopped, "{} was stopped on request", self.what);
        let ended = self.reap(Duration::ZERO)?;
        let ended = ended.with_context(|| {
            format!("{} did not end within {} s and was killed", self.what, END_LIMIT.as_secs())
        })?;
        ensure!(
            ended.status.success() || ended.status.signal() == Some(libc::SIGTERM),
            "{} ended badly: {}",
            self.what,
            ended.status
        );
        let elapsed = self.since.elapsed();
        let outside = command::outside(&ended, &self.containment)?;
        ensure!(outside.is_nothing(), "{} {outside}", self.what);
        let what = self.what;
        self.containment.end().with_context(|| format!("{what} has not ended"))?;
        Ok(Usage { elapsed, cpu, worked })
    }
}

/// The rest of a sentence: the last line that a program has printed to standard error.
fn last_words(context: &Surroundings) -> String {
    let errors = tail(&context.stderr());
    let last = errors.trim_end().lines().next_back().unwrap_or_default();
    if last.is_empty() { String::new() } else { format!(": {last}") }
}
