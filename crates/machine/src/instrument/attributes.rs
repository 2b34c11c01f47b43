// SPDX-License-Identifier: GPL-2.0-only
//! All that sched_getattr(2) shows of a thread.

use std::mem;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::libc;
use serde::{Deserialize, Serialize};

const UTILIZATION: u64 = (libc::SCHED_FLAG_UTIL_CLAMP_MIN | libc::SCHED_FLAG_UTIL_CLAMP_MAX) as u64;
const RESET_ON_FORK: u64 = libc::SCHED_FLAG_RESET_ON_FORK as u64;

/// The structure with the fields that Linux has had since 5.3 (include/uapi/linux/sched/types.h).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Raw {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
    util_min: u32,
    util_max: u32,
}

/// Policy and parameters of the calling thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    policy: u32,
    is_reset_on_fork: bool,
    nice: i32,
    priority: u32,
    /// A slice in ns that the thread has asked for; None for the kernel's.
    slice_ns: Option<u64>,
    /// Deadline and period, of SCHED_DEADLINE.
    deadline_ns: (u64, u64),
    utilization: (u32, u32),
}

impl Attributes {
    /// # Errors
    /// The kernel does not show them.
    pub fn now() -> Result<Self> {
        let raw = read()?;
        Ok(Self {
            policy: raw.policy,
            is_reset_on_fork: raw.flags & RESET_ON_FORK != 0,
            nice: raw.nice,
            priority: raw.priority,
            slice_ns: own_slice(raw)?,
            deadline_ns: (raw.deadline, raw.period),
            utilization: (raw.util_min, raw.util_max),
        })
    }

    /// Gives them to the calling thread.
    ///
    /// # Errors
    /// It may not have them.
    pub fn set(&self) -> Result<()> {
        let now = read()?;
        let mut raw = Raw {
            size: now.size,
            policy: self.policy,
            flags: if self.is_reset_on_fork { RESET_ON_FORK } else { 0 },
            nice: self.nice,
            priority: self.priority,
            runtime: self.slice_ns.unwrap_or(0),
            deadline: self.deadline_ns.0,
            period: self.deadline_ns.1,
            util_min: self.utilization.0,
            util_max: self.utilization.1,
        };
        if (now.util_min, now.util_max) != self.utilization {
            raw.flags |= UTILIZATION;
        }
        write(raw)
    }

    /// Takes the kernel's slice, as it is now, for the calling thread, unless these have one that was
    /// asked for: the kernel gives a new one only to a thread that has slept since.
    ///
    /// # Errors
    /// The kernel does not show the present ones.
    pub fn take_kernels_slice(&self) -> Result<()> {
        let now = read()?;
        if self.slice_ns.is_some() || now.runtime == 0 {
            return Ok(());
        }
        write(Raw { runtime: 0, ..now })
    }

    /// Names and values, for sentences.
    pub fn list(&self) -> Vec<(&'static str, String)> {
        let slice = |ns| format!("{ns} ns");
        vec![
            ("scheduling policy", name_policy(self.policy, self.is_reset_on_fork)),
            ("real-time priority", self.priority.to_string()),
            ("nice value", self.nice.to_string()),
            ("slice", self.slice_ns.map_or("the kernel's".into(), slice)),
            ("deadline", format!("{} of {} ns", self.deadline_ns.0, self.deadline_ns.1)),
            ("utilization", format!("{} to {}", self.utilization.0, self.utilization.1)),
        ]
    }
}

fn name_policy(policy: u32, is_reset_on_fork: bool) -> String {
    let name = match policy.cast_signed() {
        libc::SCHED_OTHER => "SCHED_OTHER",
        libc::SCHED_FIFO => "SCHED_FIFO",
        libc::SCHED_RR => "SCHED_RR",
        libc::SCHED_BATCH => "SCHED_BATCH",
        libc::SCHED_IDLE => "SCHED_IDLE",
        libc::SCHED_DEADLINE => "SCHED_DEADLINE",
        other => return format!("number {other}"),
    };
    format!("{name}{}", if is_reset_on_fork { ", not inherited" } else { "" })
}

/// The slice that the thread has asked for. Since Linux 6.12 the kernel shows the slice of each
/// SCHED_OTHER or SCHED_BATCH thread, and does not say whether it was asked for: its own is what
/// remains when none is.
fn own_slice(raw: Raw) -> Result<Option<u64>> {
    let is_fair = matches!(raw.policy.cast_signed(), libc::SCHED_OTHER | libc::SCHED_BATCH);
    if !is_fair || raw.runtime == 0 {
        return Ok((raw.runtime != 0).then_some(raw.runtime));
    }
    write(Raw { runtime: 0, ..raw })?;
    if read()?.runtime == raw.runtime {
        return Ok(None);
    }
    write(raw)?;
    Ok(Some(raw.runtime))
}

#[expect(clippy::cast_possible_truncation, reason = "a struct of some bytes")]
const SIZE: u32 = mem::size_of::<Raw>() as u32;

fn read() -> Result<Raw> {
    let mut raw = Raw::default();
    // SAFETY: the structure has the size that is given and outlives the call.
    let done = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut raw, SIZE, 0) };
    Errno::result(done).context("sched_getattr")?;
    Ok(raw)
}

fn write(raw: Raw) -> Result<()> {
    // SAFETY: the structure has at least the size that it states and outlives the call.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const raw, 0) };
    Errno::result(done).context("sched_setattr")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::sched::{self, THIS_THREAD};

    fn value(attributes: &Attributes, name: &str) -> String {
        attributes.list().into_iter().find(|(each, _)| *each == name).unwrap().1
    }

    #[test]
    fn a_slice_that_was_asked_for_is_told_from_the_kernels_own() {
        thread::spawn(|| {
            let before = Attributes::now().unwrap();
            assert_eq!(before.slice_ns, None);
            sched::set_slice(Duration::from_millis(100)).unwrap();
            let asked = Attributes::now().unwrap();
            // Older kernels take no slice.
            if read().unwrap().runtime != 0 {
                assert_eq!(value(&asked, "slice"), "100000000 ns");
                // Looking has not changed it.
                assert_eq!(Attributes::now().unwrap(), asked);
            }
            before.set().unwrap();
            assert_eq!(Attributes::now().unwrap(), before);
            asked.set().unwrap();
            assert_eq!(Attributes::now().unwrap(), asked);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn nice_value_and_policy_come_back() {
        thread::spawn(|| {
            let before = Attributes::now().unwrap();
            sched::set_policy(THIS_THREAD, sched::Policy::Batch).unwrap();
            sched::set_nice(THIS_THREAD, 15).unwrap();
            let changed = Attributes::now().unwrap();
            assert_eq!(value(&changed, "scheduling policy"), "SCHED_BATCH");
            assert_eq!(value(&changed, "nice value"), "15");
            // Only root may become less nice.
            if nix::unistd::geteuid().is_root() {
                before.set().unwrap();
                assert_eq!(Attributes::now().unwrap(), before);
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_deadline_thread_has_its_runtime() {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("not tested: it needs root");
            return;
        }
        thread::spawn(|| {
            let raw = Raw {
                size: read().unwrap().size,
                policy: libc::SCHED_DEADLINE.cast_unsigned(),
                flags: RESET_ON_FORK,
                runtime: 1_000_000,
                deadline: 10_000_000,
                period: 10_000_000,
                ..Raw::default()
            };
            if let Err(error) = write(raw) {
                eprintln!("not tested: {error:#}");
                return;
            }
            let found = Attributes::now().unwrap();
            assert_eq!(value(&found, "slice"), "1000000 ns");
            assert_eq!(value(&found, "deadline"), "10000000 of 10000000 ns");
            assert_eq!(value(&found, "scheduling policy"), "SCHED_DEADLINE, not inherited");
        })
        .join()
        .unwrap();
    }
}
