// SPDX-License-Identifier: GPL-2.0-only
//! The process that serves a disk, from outside.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use super::abi;

/// Is `pid` the server of a disk, and not another process that has got the number of one that was killed? Only
/// root can tell of every process.
pub fn serves(pid: u32) -> bool {
    // A server has the control device open from before it adds its disk until it has deleted it.
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|to| to == Path::new(abi::CONTROL))
}

/// A server that stays the same process, whatever its number is given to later.
pub struct ServerProcess {
    handle: OwnedFd,
}

impl ServerProcess {
    /// None if it is not there.
    pub fn find(pid: u32) -> Option<Self> {
        // SAFETY: a plain system call; the descriptor that it returns is ours alone.
        let handle = unsafe {
            let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
            OwnedFd::from_raw_fd(i32::try_from(fd).ok().filter(|fd| *fd >= 0)?)
        };
        // In this order, so that what was looked at is what the handle means.
        serves(pid).then_some(Self { handle })
    }

    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let (fd, none) = (self.handle.as_raw_fd(), std::ptr::null::<libc::siginfo_t>());
        // SAFETY: a plain system call; no information goes with the signal.
        let sent = unsafe {
            libc::syscall(libc::SYS_pidfd_send_signal, fd, signal as libc::c_int, none, 0)
        };
        if sent == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    pub fn ended_within(&self, limit: Duration) -> bool {
        let mut fds = [PollFd::new(self.handle.as_fd(), PollFlags::POLLIN)];
        let limit = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
        poll(&mut fds, limit).is_ok_and(|ready| ready > 0)
    }
}
