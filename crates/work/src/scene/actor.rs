// SPDX-License-Identifier: GPL-2.0-only
//! A thread that follows its script, and its notes.

use std::collections::BTreeMap;
use std::env::current_exe;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use nix::sched::sched_yield;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::script::{Script, Step};
use super::timeline::{Recorder, Timeline};
use crate::figures::as_f64;
use machine::clock::now;
use machine::sched::{self, THIS_THREAD};

/// The times that an actor saw.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Notes {
    /// Time from its beginning to its first run.
    pub first_ms: f64,
    pub cpu_s: f64,
    /// How often it slept and woke.
    pub wakes: usize,
    /// How late it woke.
    pub late_mean_ms: f64,
    pub late_max_ms: f64,
    /// How many steps `run` it did.
    pub runs: usize,
    /// How long these steps took.
    pub run_mean_ms: f64,
    pub run_max_ms: f64,
    /// Longest time between two looks at the clock while it wanted the CPU, even while its nice
    /// value or policy was changed.
    pub longest_gap_ms: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
}

/// The notes of all actors by name.
pub type AllNotes = BTreeMap<String, Notes>;

struct Actor<'a> {
    name: String,
    script: &'a Script,
    cast: &'a [Script],
    end: Duration,
    recorder: Option<Recorder>,
    notes: Notes,
    late: Vec<Duration>,
    ran: Vec<Duration>,
    threads: Vec<JoinHandle<Result<AllNotes>>>,
    programs: Vec<Child>,
}

/// Follows the script until `end`, in this thread and those that it begins; `begun` is when it was
/// to begin. A `recorder` makes the timelines of all of them.
///
/// # Errors
/// A step cannot be done here.
pub fn perform(
    name: String,
    script: &Script,
    cast: &[Script],
    begun: Duration,
    end: Duration,
    recorder: Option<Recorder>,
) -> Result<AllNotes> {
    let first_ms = ms(now().saturating_sub(begun));
    let notes = Notes { first_ms, ..Notes::default() };
    let (late, ran, threads, programs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let actor = Actor { name, script, cast, end, recorder, notes, late, ran, threads, programs };
    actor.follow()
}

impl Actor<'_> {
    fn follow(mut self) -> Result<AllNotes> {
        let (once, again) = self.script.steps.split_at(self.script.repeat_from);
        for step in once {
            self.act(step)?;
        }
        while !again.is_empty() && now() < self.end {
            for step in again {
                self.act(step)?;
            }
        }
        self.finish()
    }

    fn act(&mut self, step: &Step) -> Result<()> {
        if now() >= self.end {
            return Ok(());
        }
        match step {
            Step::On(cpus) => sched::use_only(THIS_THREAD, cpus)
                .with_context(|| format!("cannot use only the CPUs {cpus:?}"))?,
            Step::Nice(nice) => {
                let from = now();
                sched::set_nice(THIS_THREAD, *nice)?;
                self.note_gap(now().saturating_sub(from));
            }
            Step::Policy(policy) => {
                let from = now();
                sched::set_policy(THIS_THREAD, *policy)?;
                self.note_gap(now().saturating_sub(from));
            }
            Step::Sleep(length) => self.sleep(*length),
            Step::Run(length) => self.run(*length)?,
            Step::Busy(length) => {
                let until = now() + *length;
                self.look_while(|| Ok(now() < until))?;
            }
            Step::Yield(length) => {
                let until = (now() + *length).min(self.end);
                while now() < until {
                    sched_yield()?;
                    self.record(now());
                }
            }
            Step::Thread(name) => self.begin(name)?,
            Step::Vfork => self.programs.push(start_a_program()?),
        }
        Ok(())
    }

    fn sleep(&mut self, length: Duration) {
        let due = now() + length;
        thread::sleep(length.min(self.end.saturating_sub(now())));
        let woke = now();
        if due < self.end {
            self.late.push(woke.saturating_sub(due));
            if let Some(recorder) = &mut self.recorder {
                recorder.woke(due, woke);
            }
        }
    }

    fn record(&mut self, at: Duration) {
        if let Some(recorder) = &mut self.recorder {
            recorder.look(at);
        }
    }

    fn run(&mut self, length: Duration) -> Result<()> {
        let (from, used) = (now(), used()?);
        self.look_while(|| Ok(self::used()? - used < length))?;
        self.ran.push(now().saturating_sub(from));
        Ok(())
    }

    /// Uses the CPU while there is a reason to, and notes for how long it did not have it.
    fn look_while(&mut self, wanted: impl Fn() -> Result<bool>) -> Result<()> {
        let (mut last, mut longest) = (now(), Duration::ZERO);
        while last < self.end && wanted()? {
            let at = now();
            longest = longest.max(at.saturating_sub(last));
            last = at;
            self.record(at);
        }
        self.note_gap(longest);
        Ok(())
    }

    fn note_gap(&mut self, length: Duration) {
        self.notes.longest_gap_ms = self.notes.longest_gap_ms.max(ms(length));
    }

    fn begin(&mut self, name: &str) -> Result<()> {
        let found = self.cast.iter().find(|script| script.name == name);
        let script = found.with_context(|| format!("nobody is called {name}"))?.clone();
        let (cast, end, name) = (self.cast.to_vec(), self.end, name.to_owned());
        let recorder = self.recorder.as_ref().map(Recorder::of_another);
        let begun = now();
        self.threads
            .push(thread::spawn(move || perform(name, &script, &cast, begun, end, recorder)));
        Ok(())
    }

    fn finish(mut self) -> Result<AllNotes> {
        let mut all = AllNotes::new();
        for thread in self.threads {
            all.extend(thread.join().map_err(|_| anyhow!("a thread ended early"))??);
        }
        for mut program in self.programs {
            program.wait().context("cannot await a program")?;
        }
        self.notes.cpu_s = used()?.as_secs_f64();
        self.notes.wakes = self.late.len();
        (self.notes.late_mean_ms, self.notes.late_max_ms) = mean_and_max_ms(&self.late);
        self.notes.runs = self.ran.len();
        (self.notes.run_mean_ms, self.notes.run_max_ms) = mean_and_max_ms(&self.ran);
        self.notes.timeline = self.recorder.map(Recorder::timeline);
        all.insert(self.name, self.notes);
        Ok(all)
    }
}

fn ms(length: Duration) -> f64 {
    length.as_secs_f64() * 1e3
}

fn mean_and_max_ms(lengths: &[Duration]) -> (f64, f64) {
    let all: f64 = lengths.iter().copied().map(ms).sum();
    let most = lengths.iter().copied().max().unwrap_or_default();
    (all / as_f64(lengths.len().max(1)), ms(most))
}

/// CPU time of this thread.
fn used() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}

/// Starts a program. The standard library uses posix_spawn(3), which is vfork(2): this thread waits
/// uninterruptibly until it runs.
fn start_a_program() -> Result<Child> {
    let own = current_exe().context("this program has no path")?;
    let mut command = Command::new(own);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().context("cannot start a program")
}
