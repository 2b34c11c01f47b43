// SPDX-License-Identifier: GPL-2.0-only
//! A spin lock for each CPU: a holder that is taken off its CPU makes the next one there spin.
//! Spinning is the penalty for preempting a request.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sched::sched_getcpu;

/// A lock on two cache lines of its own, because processors fetch them in pairs.
#[repr(align(128))]
#[derive(Default)]
struct Lock(AtomicBool);

pub struct Locks(Vec<Lock>);

pub struct Held<'a>(&'a Lock);

impl Locks {
    pub fn new(cpus: usize) -> Self {
        Self((0..cpus).map(|_| Lock::default()).collect())
    }

    /// Takes the lock of the CPU that this thread is on now, even if it moves later.
    pub fn acquire(&self) -> Held<'_> {
        let cpu = sched_getcpu().unwrap_or(0);
        let lock = &self.0[cpu % self.0.len()];
        while lock.0.swap(true, Ordering::Acquire) {
            while lock.0.load(Ordering::Relaxed) {
                spin_loop();
            }
        }
        Held(lock)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Release);
    }
}
