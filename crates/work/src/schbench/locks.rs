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

impl Lock {
    fn acquire(&self) -> Held<'_> {
        while self.0.swap(true, Ordering::Acquire) {
            while self.0.load(Ordering::Relaxed) {
                spin_loop();
            }
        }
        Held(self)
    }
}

pub struct Locks(Vec<Lock>);

pub struct Held<'a>(&'a Lock);

impl Locks {
    pub fn new(cpus: usize) -> Self {
        Self((0..cpus).map(|_| Lock::default()).collect())
    }

    /// Takes the lock of the CPU on which this thread is once it has it. It may move later, and
    /// holds that lock still.
    pub fn acquire(&self) -> Held<'_> {
        self.acquire_at(|| sched_getcpu().unwrap_or(0))
    }

    /// Takes the lock of the CPU that `here` says before and after.
    fn acquire_at(&self, mut here: impl FnMut() -> usize) -> Held<'_> {
        loop {
            let cpu = here();
            let held = self.0[cpu % self.0.len()].acquire();
            // A thread that was moved while it waited would wait for others on a CPU that is not theirs.
            if here() == cpu {
                return held;
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_was_moved_while_it_waited_has_the_lock_of_its_new_cpu_only() {
        let locks = Locks::new(3);
        let mut seen = [0, 1, 1, 2, 2, 2].into_iter();
        let held = locks.acquire_at(|| seen.next().unwrap());
        let taken =
            || locks.0.iter().map(|lock| lock.0.load(Ordering::Relaxed)).collect::<Vec<_>>();
        assert_eq!((seen.next(), taken()), (None, vec![false, false, true]));
        drop(held);
        assert_eq!(taken(), [false; 3]);
    }
}
