// SPDX-License-Identifier: GPL-2.0-only
//! A request to stop now: SIGTERM, SIGINT, or the death of the process that started the agent.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::Result;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// Blocks the stop signals and turns them into a readable file descriptor, so that a wait for a
/// child is also a wait for them. Children inherit the mask: see `unblock_signals`.
pub struct Stop {
    signals: SignalFd,
}

/// Unblocks the signals that the agent waits for; for a child, between fork and exec.
pub fn unblock_signals() -> io::Result<()> {
    SigSet::empty().thread_set_mask().map_err(Into::into)
}

impl Stop {
    pub fn new() -> Result<Self> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGTERM);
        mask.add(Signal::SIGINT);
        mask.thread_block()?;
        prctl::set_pdeathsig(Signal::SIGTERM)?;
        let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { signals })
    }

    /// True once a stop signal has arrived; it stays pending so that every later wait sees it too.
    pub fn requested(&self) -> bool {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        let mut fds = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }
}
