// SPDX-License-Identifier: GPL-2.0-only
//! Child processes of work: forked, not executed, so that they are running at once.

use std::time::Duration;

use anyhow::{Context, Result};
use nix::libc;
use nix::sys::prctl;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{ForkResult, Pid, fork};

/// Starts a process that does `work` and ends with status 0 if that returned true, else 1.
pub fn spawn(work: impl FnOnce() -> bool) -> Result<Pid> {
    // SAFETY: the programs in `work` have one thread, so the child may do anything.
    match unsafe { fork() }.context("cannot start a process")? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            let done = work();
            // Not exit(): what the parent had buffered is the parent's to write.
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(i32::from(!done)) }
        }
    }
}

/// From now on this process is killed when `parent`, which started it, ends.
pub fn die_with(parent: Pid) -> bool {
    // The parent may have ended before the request was made.
    prctl::set_pdeathsig(Signal::SIGKILL).is_ok() && Pid::parent() == parent
}

/// CLOCK_MONOTONIC.
pub fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

/// The same in ns, as BPF's bpf_ktime_get_ns has it.
pub fn now_ns() -> u64 {
    now().as_nanos() as u64
}

/// User and system time so far, in s.
///
/// # Errors
/// getrusage(2) fails.
pub fn cpu_s(who: UsageWho) -> nix::Result<f64> {
    let usage = getrusage(who)?;
    let times = [usage.user_time(), usage.system_time()];
    Ok(times.iter().map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6).sum())
}
