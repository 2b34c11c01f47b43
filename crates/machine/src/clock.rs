// SPDX-License-Identifier: GPL-2.0-only
//! The clocks of samples.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC.
pub fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

/// CLOCK_MONOTONIC in ns, the clock of BPF's bpf_ktime_get_ns.
pub fn now_ns() -> u64 {
    u64::try_from(now().as_nanos()).unwrap_or(u64::MAX)
}

/// User and system time so far, in s.
///
/// # Errors
/// getrusage(2) fails.
pub fn cpu_s(who: UsageWho) -> nix::Result<f64> {
    let usage = getrusage(who)?;
    let times = [usage.user_time(), usage.system_time()];
    #[expect(clippy::cast_precision_loss, reason = "2^53 us are 285 years")]
    let seconds = times.iter().map(|time| time.num_microseconds() as f64 / 1e6);
    Ok(seconds.sum())
}
