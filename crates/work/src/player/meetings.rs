// SPDX-License-Identifier: GPL-2.0-only
//! Locks, events and barriers in memory that all actors share, each a futex(2): actors of other
//! processes and of other programs wait at it too.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use rustix::io::Errno;
use rustix::thread::futex::{Flags, wait, wake};

use crate::shared::Shared;

const ALL: u32 = i32::MAX.unsigned_abs();

#[derive(Debug)]
#[repr(C)]
pub struct Meetings([Meeting; scene::MOST_RESOURCES]);

// SAFETY: numbers, all of them atomic.
unsafe impl Shared for Meetings {}

impl Meetings {
    /// The one of a resource.
    pub fn at(&self, resource: usize) -> &Meeting {
        &self.0[resource]
    }
}

/// A lock, an event or a barrier. Each wait returns false if the caller was interrupted, and is to
/// be asked again unless the scene is over.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Meeting {
    /// What is waited at. A lock is free, taken, or taken and waited for; an event counts how often
    /// somebody was let go on; a barrier has its round, and in the low bits who has come.
    word: AtomicU32,
    /// Signals that nobody has taken.
    signals: AtomicU32,
    broadcasts: AtomicU32,
}

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const AWAITED: u32 = 2;

/// Bits of a barrier's word for actors that have come: there are fewer than this many.
const COME_BITS: u32 = 14;

/// Where an actor's wait began.
#[derive(Debug, Clone, Copy)]
pub struct Since(u32);

impl Meeting {
    /// Takes the lock.
    pub fn lock(&self) -> bool {
        if self.word.compare_exchange(FREE, TAKEN, SeqCst, SeqCst).is_ok() {
            return true;
        }
        while self.word.swap(AWAITED, SeqCst) != FREE {
            if sleep(&self.word, AWAITED) == Woken::Interrupted {
                return false;
            }
        }
        true
    }

    pub fn unlock(&self) {
        if self.word.swap(FREE, SeqCst) == AWAITED {
            rouse(&self.word, 1);
        }
    }

    /// Begins to wait for an event: a broadcast from now on ends the wait.
    pub fn begin_to_wait(&self) -> Since {
        Since(self.broadcasts.load(SeqCst))
    }

    pub fn wait(&self, since: Since) -> bool {
        loop {
            let before = self.word.load(SeqCst);
            let take = |count: u32| count.checked_sub(1);
            let has_signal = self.signals.fetch_update(SeqCst, SeqCst, take).is_ok();
            if has_signal || self.broadcasts.load(SeqCst) != since.0 {
                return true;
            }
            if sleep(&self.word, before) == Woken::Interrupted {
                return false;
            }
        }
    }

    pub fn signal(&self) {
        self.signals.fetch_add(1, SeqCst);
        self.let_go(1);
    }

    pub fn broadcast(&self) {
        self.broadcasts.fetch_add(1, SeqCst);
        self.let_go(ALL);
    }

    /// Comes to the barrier of `all` actors. The last one lets them go on.
    pub fn come(&self, all: u32) -> Since {
        let is_last = |word: u32| (word & ((1 << COME_BITS) - 1)) + 1 == all;
        let round = |word: u32| word >> COME_BITS;
        let next = |word: u32| {
            Some(if is_last(word) { round(word).wrapping_add(1) << COME_BITS } else { word + 1 })
        };
        let before = match self.word.fetch_update(SeqCst, SeqCst, next) {
            Ok(word) | Err(word) => word,
        };
        if is_last(before) {
            rouse(&self.word, ALL);
        }
        Since(round(before))
    }

    /// Waits until the others have come.
    pub fn meet(&self, since: Since) -> bool {
        loop {
            let word = self.word.load(SeqCst);
            if word >> COME_BITS != since.0 {
                return true;
            }
            if sleep(&self.word, word) == Woken::Interrupted {
                return false;
            }
        }
    }

    fn let_go(&self, how_many: u32) {
        self.word.fetch_add(1, SeqCst);
        rouse(&self.word, how_many);
    }
}

#[derive(Debug, PartialEq)]
enum Woken {
    Maybe,
    Interrupted,
}

fn sleep(word: &AtomicU32, expected: u32) -> Woken {
    match wait(word, Flags::empty(), expected, None) {
        Err(Errno::INTR) => Woken::Interrupted,
        _ => Woken::Maybe,
    }
}

fn rouse(word: &AtomicU32, how_many: u32) {
    // It fails for addresses that are not there only.
    let _ = wake(word, Flags::empty(), how_many);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    #[test]
    fn a_lock_is_held_by_one() {
        let (lock, inside, done) = (Meeting::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        while !lock.lock() {}
                        assert_eq!(inside.fetch_add(1, SeqCst), 0);
                        done.store(done.load(SeqCst) + 1, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                        lock.unlock();
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 20_000);
    }

    #[test]
    fn a_signal_before_the_wait_is_kept_and_a_broadcast_is_not() {
        let event = Meeting::default();
        event.broadcast();
        event.signal();
        assert!(event.wait(event.begin_to_wait()));
        let since = event.begin_to_wait();
        event.broadcast();
        assert!(event.wait(since));
        assert_eq!(event.signals.load(SeqCst), 0);
    }

    #[test]
    fn every_signal_lets_one_go_on() {
        let event = Meeting::default();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope
                    .spawn(|| (0..1_000).for_each(|_| while !event.wait(event.begin_to_wait()) {}));
            }
            (0..4_000).for_each(|_| event.signal());
        });
        assert_eq!(event.signals.into_inner(), 0);
    }

    #[test]
    fn one_that_comes_early_to_the_next_round_waits_for_its_own() {
        let barrier = Meeting::default();
        let [first, _, last] = [(); 3].map(|()| barrier.come(3));
        assert!(barrier.meet(first) && barrier.meet(last));
        let early = barrier.come(3);
        assert_eq!(barrier.word.load(SeqCst), 1 << COME_BITS | 1);
        barrier.come(3);
        barrier.come(3);
        assert!(barrier.meet(early));
    }

    #[test]
    fn nobody_leaves_a_barrier_before_the_last_has_come() {
        let (barrier, come) = (Meeting::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=200 {
                        come.fetch_add(1, SeqCst);
                        let since = barrier.come(3);
                        while !barrier.meet(since) {}
                        assert!(come.load(SeqCst) >= 3 * round);
                    }
                });
            }
        });
    }
}
