// SPDX-License-Identifier: GPL-2.0-only
//! Keeps a scheduler attached for a user and shows what it counts.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use serde_json::{Map, json};
use std::os::fd::AsFd;

use super::{Attachment, KernelLog, attach, sysfs};
use crate::protocol::Scheduler;

const INTERVAL_MS: u16 = 1000;

/// Attaches `scheduler` until SIGINT or SIGTERM and writes a JSON line of its counters to `out`
/// once a second. Returns failure, with the kernel's reason on standard error, if the scheduler
/// loses its place earlier.
///
/// # Errors
/// The scheduler cannot be attached or detached, or `out` cannot be written.
pub fn attach_until_signal(scheduler: &Scheduler, out: &mut impl Write) -> Result<ExitCode> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGTERM);
    signals.thread_block().context("cannot block signals")?;
    let stop = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC)?;
    let mut kernel_log = KernelLog::open();
    let attachment = attach(scheduler)?;
    let seq = sysfs::read().enable_seq;
    let start = Instant::now();
    loop {
        let state = sysfs::read();
        if state.state != "enabled" || state.enable_seq != seq {
            eprintln!("{} is no longer in charge: {}", attachment.ops_name(), state.state);
            kernel_log.sched_ext().iter().for_each(|line| eprintln!("{line}"));
            return Ok(ExitCode::FAILURE);
        }
        writeln!(out, "{}", line(&attachment, start.elapsed().as_secs_f64()))?;
        out.flush()?;
        let mut waiting = [PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
        if poll(&mut waiting, PollTimeout::from(INTERVAL_MS))? > 0 {
            attachment.detach()?;
            return Ok(ExitCode::SUCCESS);
        }
    }
}

fn line(attachment: &Attachment, elapsed_s: f64) -> serde_json::Value {
    let counters: Map<_, _> =
        attachment.statistics().into_iter().map(|(name, count)| (name, count.into())).collect();
    json!({"scheduler": attachment.ops_name(), "elapsed_s": elapsed_s, "counters": counters})
}
