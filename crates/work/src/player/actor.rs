// SPDX-License-Identifier: GPL-2.0-only
//! A thread or process that follows its script.

use std::io::PipeWriter;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sched::sched_yield;
use nix::sys::prctl::set_timerslack;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use scene::{Kind, Length, Script, Step};

use super::bell;
use super::company::Company;
use super::disk::Disk;
use super::luggage::exec;
use super::notes::{AllNotes, Notes, merge};
use super::position::Position;
use super::stage::{Stage, Time};
use super::timeline::Recorder;
use machine::clock::now;
use machine::sched::{self, THIS_THREAD};

pub struct Actor<'a> {
    stage: Arc<Stage>,
    time: Time,
    at: Position,
    notes: Notes,
    /// Where the notes go in the end, if this is a process.
    answer: Option<&'a PipeWriter>,
    recorder: Option<Recorder>,
    drawn: Xoshiro256PlusPlus,
    disks: Vec<Option<Disk>>,
    company: Company,
}

impl<'a> Actor<'a> {
    pub fn new(
        stage: Arc<Stage>,
        time: Time,
        at: Position,
        notes: Notes,
        answer: Option<&'a PipeWriter>,
    ) -> Self {
        let has_timeline = stage.has_timelines && at.is_reported;
        Self {
            recorder: has_timeline.then(|| Recorder::new(time.begin)),
            drawn: Xoshiro256PlusPlus::seed_from_u64(at.seed),
            disks: stage.scene.resources.iter().map(|_| None).collect(),
            company: Company::default(),
            stage,
            time,
            at,
            notes,
            answer,
        }
    }

    /// Begins now.
    pub fn first(
        stage: Arc<Stage>,
        time: Time,
        at: Position,
        answer: Option<&'a PipeWriter>,
    ) -> Self {
        let first = now().saturating_sub(at.begun);
        let (script, is_reported) = (at.script, at.is_reported);
        let notes = Notes { script, is_reported, first, ..Notes::default() };
        Self::new(stage, time, at, notes, answer)
    }

    /// Follows the script to its end or that of the scene; returns its notes and those of all that
    /// it has begun.
    ///
    /// # Errors
    /// A step cannot be done here.
    pub fn follow(mut self) -> Result<AllNotes> {
        let stage = Arc::clone(&self.stage);
        let script = &stage.scene.scripts[self.at.script];
        // The default slack of 50 us would be part of every latency.
        set_timerslack(1).context("cannot set the timer's slack")?;
        let bell = script.steps.iter().any(Step::may_wait_for_ever);
        let bell = bell.then(|| bell::ring_at(self.time.end)).transpose()?;
        while let Some(step) = script.steps.get(self.at.step)
            && !self.time.is_over()
        {
            let line = script.lines[self.at.step];
            self.at.advance(script);
            self.act(step).with_context(|| format!("line {line}: {}", self.at.name))?;
        }
        drop(bell);
        self.note_lost_periods(script);
        self.finish()
    }

    fn act(&mut self, step: &Step) -> Result<()> {
        let stage = Arc::clone(&self.stage);
        let time = self.time;
        match step {
            Step::On(cpus) => sched::use_only(THIS_THREAD, cpus)
                .with_context(|| format!("cannot use only the CPUs {cpus:?}"))?,
            Step::Nice(nice) => self
                .change(|| sched::set_nice(THIS_THREAD, *nice))
                .with_context(|| format!("cannot set nice {nice}"))?,
            Step::Policy(policy) => self
                .change(|| sched::set_policy(THIS_THREAD, kernels(*policy)))
                .with_context(|| format!("cannot set the policy {policy:?}"))?,
            Step::Sleep(length) => {
                let due = now() + self.draw(*length);
                self.sleep_until(due);
            }
            Step::Timer(period) => self.await_period(*period),
            Step::Run(length) => {
                let length = self.draw(*length);
                self.run(length)?;
            }
            Step::Busy(length) => {
                let until = now() + self.draw(*length);
                self.look_while(|| Ok(now() < until))?;
            }
            Step::Yield(length) => {
                let until = (now() + *length).min(time.end);
                while now() < until {
                    sched_yield()?;
                    self.record(now());
                }
            }
            Step::Send { to, bytes } => {
                let channel = stage.channel(*to)?;
                self.wait_while(|| channel.send(*bytes, || time.is_over()))?;
            }
            Step::Receive { from, bytes } => {
                let channel = stage.channel(*from)?;
                self.wait_while(|| channel.receive(*bytes, || time.is_over()))?;
            }
            Step::Lock(lock) => self.meet(|| stage.meeting(*lock).lock())?,
            Step::Unlock(lock) => stage.meeting(*lock).unlock(),
            Step::Wait(event) => {
                let event = stage.meeting(*event);
                let since = event.begin_to_wait();
                self.meet(|| event.wait(since))?;
            }
            Step::Signal(event) => stage.meeting(*event).signal(),
            Step::Broadcast(event) => stage.meeting(*event).broadcast(),
            Step::Meet(barrier) => {
                let Kind::Barrier { count } = stage.scene.resources[*barrier].kind else {
                    return Ok(());
                };
                let barrier = stage.meeting(*barrier);
                let since = barrier.come(u32::try_from(count)?);
                self.meet(|| barrier.meet(since))?;
            }
            Step::Read { file, bytes } => self.use_disk(*file, |disk, at| disk.read(*bytes, at))?,
            Step::Write { file, bytes } => {
                self.use_disk(*file, |disk, at| disk.write(*bytes, at))?
            }
            Step::Thread(name) | Step::Fork(name) => {
                self.begin(name, matches!(step, Step::Thread(_)))?;
            }
            Step::Await(name) => {
                let from = now();
                self.company.await_those(name)?;
                self.note_wait(from, !time.is_over());
            }
            Step::Vfork => self.company.start_a_program()?,
            Step::Exec => return self.go_on_in_a_new_program(),
            Step::Exit => self.at.end(),
            Step::Done => self.notes.done += 1,
        }
        Ok(())
    }

    fn draw(&mut self, length: Length) -> Duration {
        if length.is_drawn() { length.draw(self.drawn.next_u64()) } else { length.least }
    }

    /// Changes how it is scheduled, which may take long.
    fn change<E>(&mut self, change: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let from = now();
        change()?;
        self.note_gap(now().saturating_sub(from));
        Ok(())
    }

    fn sleep_until(&mut self, due: Duration) {
        let until = due.min(self.time.end);
        while now() < until {
            // It may be interrupted.
            let flags = ClockNanosleepFlags::TIMER_ABSTIME;
            let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, flags, &until.into());
        }
        let woke = now();
        if due < self.time.end {
            self.notes.late.add(woke.saturating_sub(due));
            if let Some(recorder) = &mut self.recorder {
                recorder.woke(due, woke);
            }
        }
    }

    /// Sleeps until the next period begins. Those that have begun already are missed.
    fn await_period(&mut self, length: Duration) {
        let late = now().saturating_sub(self.at.period + length);
        self.miss(length, late.as_nanos().div_ceil(length.as_nanos()));
        self.at.period += length;
        self.notes.periods += 1;
        self.sleep_until(self.at.period);
    }

    /// At the end of the scene: misses the periods that it never came to wait for, but for the one
    /// that it may have been at work in.
    fn note_lost_periods(&mut self, script: &Script) {
        let timer = script.steps.iter().find_map(|step| match step {
            Step::Timer(length) => Some(*length),
            _ => None,
        });
        if let Some(length) = timer.filter(|_| self.time.is_over()) {
            let late = self.time.end.saturating_sub(self.at.period + length);
            self.miss(length, late.as_nanos() / length.as_nanos());
        }
    }

    fn miss(&mut self, length: Duration, periods: u128) {
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        self.at.period += length * periods;
        self.notes.periods += u64::from(periods);
        self.notes.missed += u64::from(periods);
    }

    fn record(&mut self, at: Duration) {
        if let Some(recorder) = &mut self.recorder {
            recorder.look(at);
        }
    }

    fn run(&mut self, length: Duration) -> Result<()> {
        let (from, used) = (now(), used()?);
        self.look_while(|| Ok(self::used()? - used < length))?;
        let took = now().saturating_sub(from);
        match self.time.is_over() {
            true => self.notes.ran.add_cut_off(took),
            false => self.notes.ran.add(took),
        }
        Ok(())
    }

    /// Uses the CPU while there is a reason to, and notes for how long it did not have it.
    fn look_while(&mut self, wanted: impl Fn() -> Result<bool>) -> Result<()> {
        let (mut last, mut longest) = (now(), Duration::ZERO);
        while last < self.time.end && wanted()? {
            let at = now();
            longest = longest.max(at.saturating_sub(last));
            last = at;
            self.record(at);
        }
        self.note_gap(longest);
        Ok(())
    }

    fn note_gap(&mut self, length: Duration) {
        self.notes.longest_gap = self.notes.longest_gap.max(length);
    }

    /// Waits at a lock, event or barrier.
    fn meet(&mut self, go_on: impl Fn() -> bool) -> Result<()> {
        let time = self.time;
        self.wait_while(|| {
            while !go_on() {
                if time.is_over() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Notes how long a wait takes, which returns false if the end of the scene cut it off.
    fn wait_while(&mut self, wait: impl FnOnce() -> Result<bool>) -> Result<()> {
        let from = now();
        let has_ended = wait()?;
        self.note_wait(from, has_ended);
        Ok(())
    }

    fn note_wait(&mut self, from: Duration, has_ended: bool) {
        let took = now().saturating_sub(from);
        match has_ended {
            true => self.notes.waited.add(took),
            false => self.notes.waited.add_cut_off(took),
        }
    }

    fn use_disk(
        &mut self,
        resource: usize,
        request: impl FnOnce(&mut Disk, u64) -> Result<()>,
    ) -> Result<()> {
        let place = self.drawn.next_u64();
        if self.disks[resource].is_none() {
            let file = &self.stage.scene.resources[resource];
            let Kind::File { bytes } = file.kind else { return Ok(()) };
            self.disks[resource] = Some(Disk::open(&file.name, bytes)?);
        }
        let Some(disk) = &mut self.disks[resource] else { return Ok(()) };
        let from = now();
        request(disk, place)?;
        self.note_wait(from, true);
        Ok(())
    }

    /// Begins all actors of a script.
    fn begin(&mut self, name: &str, as_threads: bool) -> Result<()> {
        let stage = Arc::clone(&self.stage);
        let (place, script) = stage.scene.find(name).context("there is no such script")?;
        for copy in 0..script.count {
            let seed = self.drawn.next_u64();
            let at = Position::start(script, place, copy, seed, now());
            let (stage, time) = (Arc::clone(&stage), self.time);
            if as_threads {
                let follow = move || Actor::first(stage, time, at, None).follow();
                self.company.begin_thread(name, follow)?;
            } else {
                let follow =
                    |answer: &PipeWriter| Actor::first(stage, time, at, Some(answer)).follow();
                self.company.begin_process(name, follow)?;
            }
        }
        Ok(())
    }

    fn go_on_in_a_new_program(&mut self) -> Result<()> {
        let answer = self.answer.context("a thread has no program of its own")?;
        self.at.seed = self.drawn.next_u64();
        self.note_timeline();
        let notes = std::mem::take(&mut self.notes);
        match exec(&self.stage, self.time, self.at.clone(), notes, answer)? {}
    }

    fn note_timeline(&mut self) {
        let Some(recorder) = self.recorder.take() else { return };
        let timeline = recorder.timeline();
        match &mut self.notes.timeline {
            Some(before) => before.append(timeline),
            None => self.notes.timeline = Some(timeline),
        }
    }

    fn finish(mut self) -> Result<AllNotes> {
        let mut all = std::mem::take(&mut self.company).finish()?;
        self.note_timeline();
        self.notes.cpu = used()?;
        merge(&mut all, AllNotes::from([(self.at.name, self.notes)]));
        Ok(all)
    }
}

/// Whether only another actor can end this step.
fn kernels(policy: scene::Policy) -> sched::Policy {
    match policy {
        scene::Policy::Normal => sched::Policy::Normal,
        scene::Policy::Batch => sched::Policy::Batch,
        scene::Policy::Idle => sched::Policy::Idle,
        scene::Policy::Fifo => sched::Policy::Fifo { priority: 1, reset_on_fork: true },
    }
}

/// CPU time of this thread.
fn used() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}
