// SPDX-License-Identifier: GPL-2.0-only
//! The process that serves a disk, as other processes see it.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use machine::owner::{self, Agent};
use machine::process::{self, Process};
use nix::sys::signal::Signal;
use procfs::process::all_processes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::pidfd_send_signal;

use crate::driver::abi;

/// Time before a server is asked to end once more.
pub const INSIST: Duration = Duration::from_millis(300);

/// Whether `pid` is a process that has `path` open, which only root can see for every process. A
/// server has the control device open from before it adds its disk until it has deleted it.
fn has_open(pid: u32, path: &Path) -> bool {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|to| to == path)
}

/// The server of a disk.
pub enum Served {
    By(ServerProcess),
    /// A process of another PID namespace, or possibly one, as far as this process can see.
    Elsewhere,
    ByNobody,
}

impl Served {
    /// Finds the server with `number` in its own PID namespace; `agent` is the server in the disk's
    /// record, if there is one.
    pub fn of(number: u32, agent: Option<Agent>) -> Self {
        Self::seen(number, agent, Path::new(abi::CONTROL))
    }

    fn seen(number: u32, agent: Option<Agent>, control: &Path) -> Self {
        let near = || ServerProcess::with_open(number, control).map(Self::By);
        match agent.filter(|agent| agent.pid == number) {
            Some(agent) if !agent.is_there() => Self::ByNobody,
            Some(agent) if agent.is_near() => near().unwrap_or(Self::ByNobody),
            Some(_) => Self::Elsewhere,
            None => near().unwrap_or_else(|| match has_open_elsewhere(number, control) {
                true => Self::Elsewhere,
                false => Self::ByNobody,
            }),
        }
    }
}

/// Whether a process with `number` in its own namespace has `path` open, or may have: only the
/// first namespace sees all processes.
fn has_open_elsewhere(number: u32, path: &Path) -> bool {
    let Some(all) = owner::sees_all().then(all_processes) else { return true };
    all.into_iter().flatten().flatten().any(|process| {
        owner::innermost(&process) == Some(number) && has_open(process.pid().cast_unsigned(), path)
    })
}

/// A server, held by a handle that stays the same process even if its number is used again.
pub struct ServerProcess {
    handle: OwnedFd,
}

impl ServerProcess {
    /// The process `pid` if it has `control` open.
    fn with_open(pid: u32, control: &Path) -> Option<Self> {
        let handle = process::open(pid).ok()?;
        // Check after opening the handle, so that it is the handle's process that was checked.
        has_open(pid, control).then_some(Self { handle })
    }

    /// A server that this process has started.
    pub fn of_child(child: &Process) -> io::Result<Self> {
        Ok(Self { handle: child.as_fd().try_clone_to_owned()? })
    }

    /// Sends `signal` to the server, unless it has ended already.
    pub fn signal(&self, signal: Signal) {
        let number = rustix::process::Signal::from_named_raw(signal as i32);
        let _ = pidfd_send_signal(&self.handle, number.expect("a signal with a name"));
    }

    /// Asks the server to end, again after each `INSIST` until `is_done`: a server whose disk is in
    /// use stays until the second signal. `is_done` may wait as long as its argument. Returns
    /// whether it was done within `limit`.
    pub fn ask_to_end<E>(
        &self,
        limit: Duration,
        mut is_done: impl FnMut(Duration) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let start = Instant::now();
        while start.elapsed() < limit {
            self.signal(Signal::SIGTERM);
            if is_done(INSIST)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub fn ended_within(&self, limit: Duration) -> bool {
        let limit = Timespec::try_from(limit).ok();
        let mut fds = [PollFd::new(&self.handle, PollFlags::IN)];
        poll(&mut fds, limit.as_ref()).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::process::Command;

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn shell(script: &str, output: impl Into<std::process::Stdio>) -> Process {
        Process::spawn(Command::new("sh").args(["-c", script]).stdout(output)).unwrap()
    }

    #[test]
    fn a_process_that_does_not_serve_is_not_a_server() {
        for pid in [std::process::id(), 0, u32::MAX] {
            assert!(ServerProcess::with_open(pid, Path::new(abi::CONTROL)).is_none());
        }
    }

    /// A file that stands in for the control device.
    const CONTROL: &str = "/dev/full";

    fn seen(number: u32, agent: Option<Agent>) -> Served {
        Served::seen(number, agent, Path::new(CONTROL))
    }

    #[test]
    fn a_server_is_known_by_its_start_and_not_by_its_number_alone() {
        let control = fs::File::open(CONTROL).unwrap();
        let this = Agent::this();
        assert!(matches!(seen(this.pid, Some(this)), Served::By(_)));
        // Before the server has written its record.
        assert!(matches!(seen(this.pid, None), Served::By(_)));
        let before = Agent { started: this.started - 1, ..this };
        assert!(matches!(seen(this.pid, Some(before)), Served::ByNobody));
        // The record of another server that had this disk's number.
        let other = Agent { pid: this.pid + 1, ..before };
        assert!(matches!(seen(this.pid, Some(other)), Served::By(_)));
        drop(control);
        assert!(matches!(seen(this.pid, Some(this)), Served::ByNobody));
    }

    #[test]
    fn a_server_of_another_namespace_is_left_alone_though_its_number_is_unused_here() {
        if !owner::sees_all() || !nix::unistd::geteuid().is_root() {
            eprintln!("not tried: it takes root in the first PID namespace");
            return;
        }
        let script = format!("exec 3<{CONTROL}; echo; read wait; exit 0");
        let (mut reader, writer) = io::pipe().unwrap();
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--kill-child", "sh", "-c", &script]);
        let (hold, waits) = io::pipe().map(|(reader, writer)| (writer, reader)).unwrap();
        let mut child = Process::spawn(command.stdout(writer).stdin(waits)).unwrap();
        io::Read::read_exact(&mut reader, &mut [0]).unwrap();
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let inner = fs::read_to_string(children).unwrap();
        let namespace = fs::metadata(format!("/proc/{}/ns/pid", inner.trim())).unwrap().ino();
        // The server has the number 1 there, as every first process of a container.
        assert!(matches!(seen(1, None), Served::Elsewhere));
        let agent = Agent { pid: 1, started: 1, namespace };
        assert!(matches!(seen(1, Some(agent)), Served::Elsewhere));
        drop(hold);
        assert!(child.reap(SOON).unwrap().is_some());
        assert!(matches!(seen(1, None), Served::ByNobody));
        assert!(matches!(seen(1, Some(agent)), Served::ByNobody));
    }

    #[test]
    fn a_child_that_needs_two_signals_ends() {
        let script = "trap 'trap - TERM' TERM; echo; while :; do sleep 0.05; done";
        let (mut reader, writer) = io::pipe().unwrap();
        let mut child = shell(script, writer);
        // The script prints when it listens.
        io::Read::read_exact(&mut reader, &mut [0]).unwrap();
        let server = ServerProcess::of_child(&child).unwrap();
        assert!(!server.ended_within(Duration::ZERO));
        let asked = server.ask_to_end(SOON, |span| Ok::<_, io::Error>(server.ended_within(span)));
        assert!(asked.unwrap());
        assert!(child.reap(SOON).unwrap().is_some());
        // Another process may have its number from now on.
        server.signal(Signal::SIGKILL);
        assert!(server.ended_within(Duration::ZERO));
    }

    #[test]
    fn the_wait_for_an_end_has_a_limit() {
        let child = shell("trap '' TERM; sleep 60", io::stdout());
        let server = ServerProcess::of_child(&child).unwrap();
        let is_done = |_| Ok::<_, io::Error>(false);
        assert!(!server.ask_to_end(Duration::from_millis(10), is_done).unwrap());
        server.signal(Signal::SIGKILL);
        assert!(server.ended_within(SOON));
    }
}
