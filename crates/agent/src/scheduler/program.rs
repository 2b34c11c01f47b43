// SPDX-License-Identifier: GPL-2.0-only
//! A program that attaches a scheduler for as long as it runs.

use std::io::{PipeReader, Read, pipe};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, setsid};

use super::error::AttachError;
use super::{POLL, sysfs};
use crate::stop;

const START_LIMIT: Duration = Duration::from_secs(20);
/// How long each signal gets before the next, harder one.
const STOP_LIMIT: Duration = Duration::from_secs(5);
const KEPT_OUTPUT: usize = 8 * 1024;

pub struct RunningProgram {
    child: Child,
    output: Arc<Mutex<Vec<u8>>>,
}

impl RunningProgram {
    /// Starts `argv` and waits until the kernel has enabled a scheduler that was not there at
    /// `enable_seq`. Returns with it the scheduler's name.
    ///
    /// # Errors
    /// `ProgramNotStarted`, or `ProgramFailed` when it ended or let 20 s pass.
    pub fn start(argv: &[String], enable_seq: u64) -> Result<(Self, String), AttachError> {
        let program = argv.first().cloned().unwrap_or_default();
        let mut running = Self::spawn(argv)
            .map_err(|error| AttachError::ProgramNotStarted { program: program.clone(), error })?;
        let start = Instant::now();
        let reason = loop {
            let state = sysfs::read();
            if state.state == "enabled" && state.enable_seq > enable_seq {
                return Ok((running, state.ops));
            }
            match running.child.try_wait() {
                Ok(Some(status)) => break format!("ended without attaching a scheduler: {status}"),
                Ok(None) if start.elapsed() < START_LIMIT => std::thread::sleep(POLL),
                _ => break format!("attached no scheduler within {} s", START_LIMIT.as_secs()),
            }
        };
        running.end();
        let output = running.output.lock().unwrap_or_else(PoisonError::into_inner);
        let output = String::from_utf8_lossy(&output).trim_end().to_owned();
        Err(AttachError::ProgramFailed { program, reason, output })
    }

    fn spawn(argv: &[String]) -> std::io::Result<Self> {
        let [program, arguments @ ..] = argv else {
            return Err(std::io::Error::other("no program was named"));
        };
        let (reader, writer) = pipe()?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        // SAFETY: all are safe between fork and exec. A killed agent takes the program with it, and the
        // kernel then takes the CPUs back.
        unsafe {
            command.pre_exec(|| {
                stop::unblock_signals()?;
                prctl::set_pdeathsig(Signal::SIGKILL)?;
                setsid().map(drop).map_err(Into::into)
            })
        };
        let child = command.spawn()?;
        let output = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&output);
        std::thread::spawn(move || keep_end(reader, &kept));
        Ok(Self { child, output })
    }

    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let group = Pid::from_raw(self.child.id() as i32);
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            let _gone_already = killpg(group, signal);
            let sent = Instant::now();
            while matches!(self.child.try_wait(), Ok(None)) && sent.elapsed() < STOP_LIMIT {
                std::thread::sleep(POLL);
            }
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.end();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn start(argv: &[&str]) -> AttachError {
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        RunningProgram::start(&argv, u64::MAX).err().unwrap()
    }

    #[test]
    fn a_program_that_ends_is_reported_with_its_last_words() {
        let error = start(&["sh", "-c", "echo one; echo two >&2; sleep 0.2; exit 3"]);
        assert_eq!(error.to_string(), "\"sh\" ended without attaching a scheduler: exit status: 3");
        assert_eq!(error.detail(), "one\ntwo");
    }

    #[test]
    fn a_missing_program_is_named() {
        let message = start(&["/nonexistent/scx"]).to_string();
        assert!(message.starts_with("cannot start \"/nonexistent/scx\""), "{message}");
    }
}
