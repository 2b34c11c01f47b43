// SPDX-License-Identifier: GPL-2.0-only
//! Ends the waits of an actor when the scene is over.

use std::time::Duration;

use anyhow::{Context, Result};
use machine::clock::now;
use nix::libc;
use nix::sys::signal::{
    SaFlags, SigAction, SigEvent, SigHandler, SigSet, SigevNotify, Signal, sigaction,
};
use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
use nix::time::ClockId;
use nix::unistd::gettid;

/// A signal that comes just before a wait does not end it; the next one does.
const AGAIN: Duration = Duration::from_millis(5);

/// Makes the signal end a system call, and nothing else, in this process and those that it forks.
pub fn arm() -> Result<()> {
    extern "C" fn nothing(_: libc::c_int) {}
    let action = SigAction::new(SigHandler::Handler(nothing), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing.
    unsafe { sigaction(Signal::SIGALRM, &action) }.context("cannot take a signal")?;
    Ok(())
}

/// Signals this thread from `end` on, until it is dropped.
pub fn ring_at(end: Duration) -> Result<Timer> {
    let notify = SigevNotify::SigevThreadId {
        signal: Signal::SIGALRM,
        thread_id: gettid().as_raw(),
        si_value: 0,
    };
    let mut timer = Timer::new(ClockId::CLOCK_MONOTONIC, SigEvent::new(notify))
        .context("cannot make a timer; ask for fewer actors, or raise the limit of pending signals (ulimit -i)")?;
    let first = end.saturating_sub(now()).max(Duration::from_nanos(1));
    let expiration = Expiration::IntervalDelayed(first.into(), AGAIN.into());
    timer.set(expiration, TimerSetTimeFlags::empty()).context("cannot set a timer")?;
    Ok(timer)
}
