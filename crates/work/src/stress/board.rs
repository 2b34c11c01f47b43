// SPDX-License-Identifier: GPL-2.0-only
//! Memory shared by all workers: since when each could have run, and its longest wait. Times are
//! CLOCK_MONOTONIC in nanoseconds.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::SeqCst};

use crate::shared::Shared;

pub const MOST_WORKERS: usize = 4096;

/// What all workers share.
#[repr(C)]
pub struct Board {
    /// Set when every worker has to end.
    pub over: AtomicBool,
    /// The errno with which the kernel refused a storm another process; 0 if it never did.
    refused: AtomicI32,
    pub slots: [Slot; MOST_WORKERS],
}

// SAFETY: numbers and flags, all of them atomic.
unsafe impl Shared for Board {}

impl Board {
    pub fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }

    pub fn refuse(&self, error: &io::Error) {
        self.refused.store(error.raw_os_error().unwrap_or(nix::libc::EAGAIN), SeqCst);
    }

    pub fn refusal(&self) -> Option<io::Error> {
        match self.refused.load(SeqCst) {
            0 => None,
            number => Some(io::Error::from_raw_os_error(number)),
        }
    }
}

/// One worker's part of the board.
#[derive(Default)]
#[repr(C)]
pub struct Slot {
    ready_ns: AtomicU64,
    excused_ns: AtomicU64,
    /// Since when it has had the normal policy; `NEVER` while it has another.
    normal_ns: AtomicU64,
    longest_ns: AtomicU64,
    longest_normal_ns: AtomicU64,
    steps: AtomicU64,
    /// Whether the worker has begun, so that it ends with this process.
    begun: AtomicBool,
}

/// A time that never comes: the worker waits for something other than a CPU.
const NEVER: u64 = u64::MAX;

impl Slot {
    pub fn begin(&self) {
        self.begun.store(true, SeqCst);
    }

    pub fn has_begun(&self) -> bool {
        self.begun.load(SeqCst)
    }

    /// Notes that the worker can run from `at_ns` on, which may be in the future.
    pub fn ready(&self, at_ns: u64) {
        self.ready_ns.store(at_ns, SeqCst);
    }

    /// Notes that the worker waits for another one to call `ready`.
    pub fn block(&self) {
        self.ready(NEVER);
    }

    /// Notes that the worker runs: how long it waited, and that it can go on.
    pub fn step(&self, now_ns: u64) {
        self.note(now_ns);
        self.steps.fetch_add(1, SeqCst);
        self.ready(now_ns);
    }

    /// Counts the wait so far of a worker that may still be waiting.
    pub fn note(&self, now_ns: u64) {
        let since = self.ready_ns.load(SeqCst).max(self.excused_ns.load(SeqCst));
        self.longest_ns.fetch_max(now_ns.saturating_sub(since), SeqCst);
        let since = since.max(self.normal_ns.load(SeqCst));
        self.longest_normal_ns.fetch_max(now_ns.saturating_sub(since), SeqCst);
    }

    /// Notes that the worker is a normal task from now on, or one that may have to wait for all
    /// normal ones.
    pub fn change_policy(&self, is_normal: bool, now_ns: u64) {
        self.note(now_ns);
        self.normal_ns.store(if is_normal { now_ns } else { NEVER }, SeqCst);
    }

    /// Notes that the worker is stopped from now on: no wait counts.
    pub fn stop(&self, now_ns: u64) {
        self.note(now_ns);
        self.excused_ns.store(NEVER, SeqCst);
    }

    /// Notes that the worker may run again: waits count from now on.
    pub fn resume(&self, now_ns: u64) {
        self.excused_ns.store(now_ns, SeqCst);
    }

    pub fn longest_ns(&self) -> u64 {
        self.longest_ns.load(SeqCst)
    }

    /// The longest of its waits, or parts of them, as a normal task.
    pub fn longest_normal_ns(&self) -> u64 {
        self.longest_normal_ns.load(SeqCst)
    }

    pub fn steps(&self) -> u64 {
        self.steps.load(SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_lasts_from_being_ready_to_the_next_step() {
        let slot = Slot::default();
        slot.ready(100);
        slot.step(130);
        slot.step(135);
        assert_eq!((slot.longest_ns(), slot.steps()), (30, 2));
    }

    #[test]
    fn a_sleeper_waits_only_after_its_alarm() {
        let slot = Slot::default();
        slot.ready(1_000);
        slot.note(900);
        assert_eq!(slot.longest_ns(), 0);
        slot.step(1_004);
        assert_eq!(slot.longest_ns(), 4);
    }

    #[test]
    fn a_worker_that_never_runs_again_is_seen_by_others() {
        let slot = Slot::default();
        slot.ready(100);
        slot.note(5_100);
        assert_eq!(slot.longest_ns(), 5_000);
    }

    #[test]
    fn waits_as_a_normal_task_are_counted_separately() {
        let slot = Slot::default();
        slot.ready(100);
        slot.step(130);
        slot.change_policy(false, 140);
        slot.step(500);
        slot.change_policy(true, 510);
        slot.step(550);
        assert_eq!((slot.longest_ns(), slot.longest_normal_ns()), (370, 40));
    }

    #[test]
    fn time_stopped_or_blocked_is_not_a_wait() {
        let slot = Slot::default();
        slot.ready(100);
        slot.stop(110);
        slot.note(900);
        slot.resume(1_000);
        slot.step(1_020);
        assert_eq!(slot.longest_ns(), 20);
        slot.block();
        slot.note(9_000);
        assert_eq!(slot.longest_ns(), 20);
    }
}
