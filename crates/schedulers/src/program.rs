// SPDX-License-Identifier: GPL-2.0-only
//! A program that attaches a scheduler for as long as it runs, contained with all that it starts.

use std::io::{PipeReader, Read, pipe};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use machine::cgroup::Purpose;
use machine::containment::Containment;
use machine::process::{self, Process};
use machine::root::Root;
use machine::stop::Stop;
use machine::view::View;
use protocol::State;
use rustix::process::Signal;

use crate::error::AttachError;
use crate::owner::World;
use crate::sysfs::POLL;

/// Longest wait until a program has attached its scheduler. Loading a large one takes the verifier 23 s on an emulated CPU.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Longest wait for the link of a scheduler, which the kernel shows after it is enabled, and for
/// its detachment after the end of its program.
const LINK_LIMIT: Duration = Duration::from_secs(2);
const KEPT_OUTPUT: usize = 8 * 1024;

/// A running program. Dropping it ends it with all that it has started.
pub struct RunningProgram {
    name: String,
    process: Process,
    containment: Option<Containment>,
    patience: Duration,
    output: Arc<Mutex<Vec<u8>>>,
}

impl RunningProgram {
    /// Starts `argv` and waits for a scheduler that it or its children keep in charge and that was
    /// enabled after attachment `enable_seq`. Returns the program and the kernel's state.
    ///
    /// # Errors
    /// `ProgramNotStarted`; `ProgramFailed` if it ended, let 20 s pass, another scheduler appeared,
    /// or a stop was requested.
    pub fn start(
        argv: &[String],
        enable_seq: u64,
        world: &World,
        stop: &Stop,
    ) -> Result<(Self, State), AttachError> {
        let program = argv.first().cloned().unwrap_or_default();
        let mut running = Self::spawn(argv, world.patience)
            .map_err(|error| AttachError::ProgramNotStarted { program: program.clone(), error })?;
        let reason = match running.attached(enable_seq, world, stop) {
            Ok(state) => return Ok((running, state)),
            Err(reason) => reason,
        };
        let reason = match running.end() {
            Ok(()) => reason,
            Err(error) => format!("{reason}; then {error:#}"),
        };
        let reason = match stays_attached(enable_seq, world, stop) {
            None => reason,
            Some(ops) => format!(
                "{reason}; {ops:?} is still attached: end the process that attached it, or remove its pinned link (`bpftool link` lists it)"
            ),
        };
        let output = running.output.lock().unwrap_or_else(PoisonError::into_inner);
        let output = String::from_utf8_lossy(&output).trim_end().to_owned();
        Err(AttachError::ProgramFailed { program, reason, output })
    }

    /// Waits for the scheduler that the program puts in charge. The error says why there is none.
    fn attached(&mut self, enable_seq: u64, world: &World, stop: &Stop) -> Result<State, String> {
        let start = Instant::now();
        let mut seen: Option<(State, Instant)> = None;
        loop {
            if let Some(state) = world.enabled_since(enable_seq) {
                if world.is_held_by(self.processes(), &state) {
                    return Ok(state);
                }
                let since = match &seen {
                    Some((before, since)) if before.enable_seq == state.enable_seq => *since,
                    _ => seen.insert((state.clone(), Instant::now())).1,
                };
                if since.elapsed() > LINK_LIMIT {
                    return Err(format!(
                        "did not attach the scheduler {:?}: no process that it has started has it open",
                        state.ops
                    ));
                }
            }
            let ended = self.process.reap(Duration::ZERO).map_err(|error| error.to_string())?;
            // A wrapper may end and leave the scheduler to its children.
            if let Some(ended) = ended
                && self.processes().next().is_none()
                && seen.is_none()
            {
                return Err(format!("ended without attaching a scheduler: {}", ended.status));
            }
            if stop.requested() {
                self.patience = Duration::ZERO;
                return Err("was stopped on request".into());
            }
            if start.elapsed() > START_LIMIT {
                return Err(format!("attached no scheduler within {} s", START_LIMIT.as_secs()));
            }
            std::thread::sleep(POLL);
        }
    }

    fn spawn(argv: &[String], patience: Duration) -> std::io::Result<Self> {
        let [program, arguments @ ..] = argv else {
            return Err(std::io::Error::other("no program was named"));
        };
        let (reader, writer) = pipe()?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let containment = Containment::create(&Root::machine(), Purpose::Program)
            .map_err(std::io::Error::other)?;
        let view = View::new().map_err(std::io::Error::other)?;
        view.enter(&mut command)?;
        let process = containment.spawn(&mut command)?;
        let output = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&output);
        std::thread::spawn(move || keep_end(reader, &kept));
        Ok(Self {
            name: program.clone(),
            process,
            containment: Some(containment),
            patience,
            output,
        })
    }

    /// # Errors
    /// `ProgramNotEnded`, also if a process had left the program's control group; it was ended.
    pub fn stop(mut self) -> Result<(), AttachError> {
        let program = self.name.clone();
        self.end().map_err(|error| AttachError::ProgramNotEnded { program, error })
    }

    /// The program's processes: itself and those that it has started.
    fn processes(&self) -> impl Iterator<Item = u32> + use<> {
        let containment = self.containment.as_ref();
        let all = containment.map(|containment| containment.cgroup().processes());
        all.unwrap_or_default().into_iter()
    }

    /// Ends all processes, first by asking and then by force.
    fn end(&mut self) -> Result<()> {
        let Some(containment) = self.containment.take() else { return Ok(()) };
        for signal in [Signal::INT, Signal::TERM] {
            for pid in containment.cgroup().processes() {
                containment.cgroup().signal(pid, signal);
            }
            let start = Instant::now();
            while containment.cgroup().populated() && start.elapsed() < self.patience {
                std::thread::sleep(POLL);
            }
        }
        let ended = containment.end();
        let _ended_with_all = self.process.reap(process::KILL_LIMIT);
        ended
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("runoff-agent: {}: {error:#}", self.name);
        }
    }
}

/// The scheduler that is in charge although the program has ended. Waits, because the kernel takes
/// a moment to detach one.
fn stays_attached(enable_seq: u64, world: &World, stop: &Stop) -> Option<String> {
    let start = Instant::now();
    loop {
        let state = world.enabled_since(enable_seq)?;
        if start.elapsed() > LINK_LIMIT || stop.requested() {
            return Some(state.ops);
        }
        std::thread::sleep(POLL);
    }
}

fn keep_end(mut reader: PipeReader, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = reader.read(&mut piece) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..length]);
        let excess = kept.len().saturating_sub(KEPT_OUTPUT);
        kept.drain(..excess);
    }
}
