// SPDX-License-Identifier: GPL-2.0-only
//! A child of this process, held by a handle that never refers to another one.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::stop::Stop;

/// Time after which a process that was sent SIGKILL is gone, unless the kernel cannot end it.
pub const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Numbers of children that this process waits for.
static AWAITED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn awaited() -> MutexGuard<'static, BTreeSet<u32>> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this process waits for that child.
pub fn is_awaited(pid: u32) -> bool {
    awaited().contains(&pid)
}

/// How a process ended, and the resources that it and the children that it waited for have used.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub status: ExitStatus,
    pub cpu: Duration,
    pub voluntary_switches: i64,
    pub involuntary_switches: i64,
    pub max_rss_kb: i64,
}

/// Why a wait was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    Ended,
    Stopped,
    TimedOut,
}

/// A child. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    pid: u32,
    handle: OwnedFd,
    ended: Option<Ended>,
    /// CPU time that is not part of what it has used.
    left_out: Duration,
    is_given_up: bool,
}

impl Process {
    /// # Errors
    /// The same as for [`Command::spawn`].
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        // A number cannot be used again before it is reaped.
        let mut waiting = awaited();
        let pid = command.spawn()?.id();
        let handle = open(pid)?;
        waiting.insert(pid);
        Ok(Self { pid, handle, ended: None, left_out: Duration::ZERO, is_given_up: false })
    }

    /// Leaves `cpu` out of what it has used at its end.
    pub fn leave_out(&mut self, cpu: Duration) {
        self.left_out = cpu;
    }

    pub fn id(&self) -> u32 {
        self.pid
    }

    /// A descriptor that is readable when the process has ended.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Sends `signal`, unless the process has ended.
    pub fn signal(&self, signal: Signal) {
        if self.ended.is_none() {
            let _has_ended = pidfd_send_signal(&self.handle, signal);
        }
    }

    /// Waits at most `limit` for its end, or until `stop` if that is given.
    ///
    /// # Errors
    /// poll(2) fails.
    pub fn wait(&self, limit: Duration, stop: Option<&Stop>) -> io::Result<Waited> {
        if self.ended.is_some() {
            return Ok(Waited::Ended);
        }
        let start = Instant::now();
        loop {
            let left = limit.saturating_sub(start.elapsed());
            let mut fds = vec![PollFd::new(self.as_fd(), PollFlags::POLLIN)];
            fds.extend(stop.map(|stop| PollFd::new(stop.as_fd(), PollFlags::POLLIN)));
            match poll(&mut fds, milliseconds(left)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            let is_ready = |at: usize| fds.get(at).is_some_and(|fd| fd.any().unwrap_or(false));
            match (is_ready(0), is_ready(1)) {
                (true, _) => return Ok(Waited::Ended),
                (false, true) => return Ok(Waited::Stopped),
                (false, false) if start.elapsed() >= limit => return Ok(Waited::TimedOut),
                (false, false) => {}
            }
        }
    }

    /// Reaps it and returns how it ended; None if it has not ended within `limit`.
    ///
    /// # Errors
    /// wait4(2) fails.
    pub fn reap(&mut self, limit: Duration) -> io::Result<Option<Ended>> {
        if self.ended.is_none() && self.wait(limit, None)? == Waited::Ended {
            let ended = wait4(self.pid)?;
            let cpu = ended.cpu.saturating_sub(self.left_out);
            self.ended = Some(Ended { cpu, ..ended });
            awaited().remove(&self.pid);
        }
        Ok(self.ended)
    }

    /// Ends it with SIGKILL; returns whether it is gone.
    pub fn kill(&mut self) -> bool {
        self.signal(Signal::KILL);
        self.reap(KILL_LIMIT).is_ok_and(|ended| ended.is_some())
    }

    /// Gives up a process that could not be killed and was reported: dropping it does not try
    /// again.
    pub fn give_up(mut self) {
        self.is_given_up = true;
    }

    /// What it does, such as "state D in do_sys_poll", to explain why it does not end.
    pub fn what_it_does(&self) -> String {
        let read =
            |file| fs::read_to_string(format!("/proc/{}/{file}", self.pid)).unwrap_or_default();
        let stat = read("stat");
        let state = stat.rsplit(')').next().unwrap_or_default().split_whitespace().next();
        let place = read("wchan");
        let place = if place.is_empty() || place == "0" { "the kernel" } else { &place };
        format!("state {} in {place}", state.unwrap_or("?"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended.is_none() && !self.is_given_up && !self.kill() {
            eprintln!(
                "runoff-agent: process {} cannot be killed ({})",
                self.pid,
                self.what_it_does()
            );
        }
    }
}

/// Opens a handle of process `pid`, which may have ended but has not been reaped.
///
/// # Errors
/// There is no such process, or Linux is older than 5.3.
pub fn open(pid: u32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// Signals process `pid` if `is_meant`, which is called while a handle of the process is held: so
/// it is the process of the handle that was checked.
pub fn signal_if(pid: u32, signal: Signal, is_meant: impl FnOnce() -> bool) {
    let Ok(handle) = open(pid) else { return };
    if is_meant() {
        let _has_ended = pidfd_send_signal(&handle, signal);
    }
}

/// Reaps a child that has ended and that nothing else waits for.
pub(crate) fn forget(pid: u32) {
    let _not_a_child = wait4(pid);
}

/// A time-out for poll, with one more millisecond: poll rounds down, and a wait of zero would spin.
fn milliseconds(left: Duration) -> PollTimeout {
    PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
}

fn wait4(pid: u32) -> io::Result<Ended> {
    let mut status = 0;
    // SAFETY: rusage is plain data.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are valid for the call.
        let found = unsafe {
            libc::wait4(pid.cast_signed(), &raw mut status, libc::WNOHANG, &raw mut usage)
        };
        match found {
            0 => return Err(io::Error::from(io::ErrorKind::WouldBlock)),
            1.. => break,
            _ => {}
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(Ended {
        status: ExitStatus::from_raw(status),
        cpu: span(usage.ru_utime) + span(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw,
        involuntary_switches: usage.ru_nivcsw,
        max_rss_kb: usage.ru_maxrss,
    })
}

fn span(time: libc::timeval) -> Duration {
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0)) + Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_ends_and_its_usage_is_known() {
        let mut child = Process::spawn(Command::new("sh").args(["-c", "exit 3"])).unwrap();
        assert!(is_awaited(child.id()));
        let ended = child.reap(Duration::from_secs(5)).unwrap().unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert!(ended.max_rss_kb > 0 && !is_awaited(child.id()));
        assert_eq!(child.wait(Duration::ZERO, None).unwrap(), Waited::Ended);
    }

    #[test]
    fn a_wait_is_over_at_its_limit_and_a_stopped_child_can_be_killed() {
        let mut child = Process::spawn(Command::new("sleep").arg("1000")).unwrap();
        child.signal(Signal::STOP);
        assert_eq!(child.wait(Duration::from_millis(30), None).unwrap(), Waited::TimedOut);
        assert!(child.reap(Duration::ZERO).unwrap().is_none());
        assert!(child.kill());
        assert_eq!(child.reap(Duration::ZERO).unwrap().unwrap().status.signal(), Some(9));
    }
}
