// SPDX-License-Identifier: GPL-2.0-only
//! Child processes of work: forked, not executed, so that they run at once.

use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Error, Result, bail};
use machine::lifeline::bind;
use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};
use serde::{Deserialize, Serialize};

/// A child process, which is killed and reaped when its handle is dropped.
#[derive(Debug)]
pub struct Child(Pid);

impl Child {
    /// Starts a process that does `work` and ends with status 0 if that returned true, else 1. It is killed when
    /// this process ends, however that happens.
    ///
    /// # Errors
    /// The kernel has no room for another process.
    pub fn spawn(work: impl FnOnce() -> bool) -> io::Result<Self> {
        let parent = Pid::this();
        spawn_survivor(|| bind(parent, Signal::SIGKILL).is_ok() && work()).map(Self)
    }

    /// Releases the process: the caller has to kill and reap it.
    pub fn release(self) -> Pid {
        let process = self.0;
        forget(self);
        process
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// It was reaped elsewhere.
    pub fn wait(self) -> nix::Result<WaitStatus> {
        let process = self.release();
        loop {
            match waitpid(process, None) {
                Err(Errno::EINTR) => {}
                other => return other,
            }
        }
    }

    pub fn kill(&self) {
        // A process that has ended is a zombie until it is reaped, so the number is still its own.
        let _ = kill(self.0, Signal::SIGKILL);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        while waitpid(self.0, None) == Err(Errno::EINTR) {}
    }
}

/// The result that a child process will write.
#[derive(Debug)]
pub struct Answer {
    child: Child,
    pipe: PipeReader,
}

impl Answer {
    /// Starts `work` in a child process.
    ///
    /// # Errors
    /// The kernel has no room for a pipe or another process.
    pub fn of<T: Serialize>(work: impl FnOnce() -> Result<T>) -> Result<Self> {
        Self::by(|_| work())
    }

    /// Starts `work` that may go on in another program, which then calls `give` with the writer.
    ///
    /// # Errors
    /// The kernel has no room for a pipe or another process.
    pub fn by<T: Serialize>(work: impl FnOnce(&PipeWriter) -> Result<T>) -> Result<Self> {
        let (reader, writer) = pipe()?;
        let child = Child::spawn(|| give(work(&writer), &writer))?;
        Ok(Self { child, pipe: reader })
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// The work failed, or its process was ended.
    pub fn wait<T: for<'de> Deserialize<'de>>(mut self) -> Result<T> {
        let mut text = String::new();
        self.pipe.read_to_string(&mut text)?;
        match self.child.wait()? {
            WaitStatus::Exited(_, 0) => {}
            status => bail!("a process ended early: {status:?}"),
        }
        serde_json::from_str::<Result<T, String>>(&text)?.map_err(Error::msg)
    }

    pub fn kill(&self) {
        self.child.kill();
    }
}

/// Writes the result of a child process; false if it was not written.
pub fn give<T: Serialize>(result: Result<T>, mut to: &PipeWriter) -> bool {
    let result = result.map_err(|error| format!("{error:#}"));
    serde_json::to_writer(&mut to, &result).is_ok() && to.flush().is_ok()
}

/// Starts a process as `Child::spawn` does, which goes on when this one has ended.
///
/// # Errors
/// The kernel has no room for another process.
pub fn spawn_survivor(work: impl FnOnce() -> bool) -> io::Result<Pid> {
    // SAFETY: the programs in `work` have one thread when they call this, so the child may do anything.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            // A panic must not go on into the parent's code.
            let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or(false);
            // Not exit(): only the parent may write what it had buffered.
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(i32::from(!done)) }
        }
    }
}
