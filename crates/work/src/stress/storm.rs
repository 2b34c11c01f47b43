// SPDX-License-Identifier: GPL-2.0-only
//! Processes that live for a moment, and their fates.

use std::io;
use std::thread::{Builder, scope, sleep};
use std::time::Duration;

use nix::libc::SIGCHLD;
use nix::sched::{CloneFlags, clone};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::board::Board;
use super::worker::spin;
use crate::process::Child;
use machine::sched::{Policy, THIS_THREAD, set_nice, set_policy};

const LONGEST_BURST_US: u64 = 2_000;

/// One of this many storms has a child that keeps a CPU for itself, as a misbehaving real-time task
/// may.
const SELFISH_ONE_OF: u64 = 16;
const LONGEST_SELFISH_US: u64 = 800_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Ends,
    Sleeps,
    Spins,
    /// Runs for ever if it is not killed.
    Doomed,
    /// Has threads that end before it does.
    Threads,
    /// Waits in the kernel for a child in its own memory.
    Vforks,
    /// Real-time for the first half.
    RealTime,
    /// Changes its nice value several times.
    Renices,
}

const FATES: [Fate; 8] = [
    Fate::Ends,
    Fate::Sleeps,
    Fate::Spins,
    Fate::Doomed,
    Fate::Threads,
    Fate::Vforks,
    Fate::RealTime,
    Fate::Renices,
];

/// Starts short children, kills some at once, and waits for all; false if one did not come back.
pub fn storm(board: &Board, children: u64, seed: u64) -> bool {
    let mut numbers = SplitMix64::seed_from_u64(seed);
    let mut lives = Vec::new();
    if numbers.next_u64().is_multiple_of(SELFISH_ONE_OF) {
        lives.push((Fate::RealTime, 2 * up_to(LONGEST_SELFISH_US, &mut numbers)));
    }
    for _ in 0..children {
        let fate = FATES[usize::try_from(numbers.next_u64() % 8).unwrap_or(0)];
        lives.push((fate, up_to(LONGEST_BURST_US, &mut numbers)));
    }
    let mut started = Vec::new();
    for (fate, burst) in lives {
        let life = || fate.live(burst).map_err(|error| board.refuse(&error)).is_ok();
        match Child::spawn(life) {
            Ok(child) => started.push((child, fate == Fate::Doomed)),
            Err(error) => {
                board.refuse(&error);
                return false;
            }
        }
    }
    for (child, doomed) in &started {
        if *doomed {
            child.kill();
        }
    }
    started.into_iter().all(|(child, doomed)| match child.wait() {
        Ok(WaitStatus::Exited(_, 0)) => !doomed,
        Ok(WaitStatus::Signaled(_, Signal::SIGKILL, _)) => doomed,
        _ => false,
    })
}

fn up_to(longest_us: u64, numbers: &mut SplitMix64) -> Duration {
    Duration::from_micros(numbers.next_u64() % longest_us)
}

impl Fate {
    /// Lives for about `burst` of CPU time.
    ///
    /// # Errors
    /// The kernel has no room for a thread or process, or refuses root a policy or nice value.
    fn live(self, burst: Duration) -> io::Result<()> {
        match self {
            Self::Ends => Ok(()),
            Self::Sleeps => {
                sleep(burst);
                Ok(())
            }
            Self::Spins => {
                spin(burst);
                Ok(())
            }
            Self::Doomed => loop {
                spin(burst);
            },
            Self::Threads => threads(burst),
            Self::Vforks => vforks(burst),
            Self::RealTime => {
                set_policy(THIS_THREAD, Policy::Fifo { priority: 1, reset_on_fork: false })?;
                spin(burst / 2);
                set_policy(THIS_THREAD, Policy::Normal)?;
                spin(burst / 2);
                Ok(())
            }
            Self::Renices => [19, -20, 10, -5, 0].into_iter().try_for_each(|nice| {
                spin(burst / 5);
                set_nice(THIS_THREAD, nice)
            }),
        }
    }
}

fn threads(burst: Duration) -> io::Result<()> {
    scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, || spin(burst / 3)).map(|_| ());
        (0..3).try_for_each(start)
    })
}

fn vforks(burst: Duration) -> io::Result<()> {
    let mut stack = [0; 1 << 16];
    let child = || {
        spin(burst);
        0
    };
    let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
    // SAFETY: this process has no other thread and waits until the child, which takes no lock and allocates nothing,
    // has ended.
    let child = unsafe { clone(Box::new(child), &mut stack, flags, Some(SIGCHLD)) }?;
    match waitpid(child, None)? {
        WaitStatus::Exited(_, 0) => Ok(()),
        _ => Err(io::ErrorKind::Interrupted.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::clock::now;

    #[test]
    fn a_child_without_a_deadly_fate_ends_by_itself() {
        // Without the fates that need root.
        for fate in [Fate::Ends, Fate::Sleeps, Fate::Spins, Fate::Threads] {
            let begin = now();
            fate.live(Duration::from_millis(6)).unwrap();
            let lasted = now() - begin;
            let least = if fate == Fate::Threads { 2 } else { 6 };
            assert!(fate == Fate::Ends || lasted >= Duration::from_millis(least), "{fate:?}");
        }
    }
}
