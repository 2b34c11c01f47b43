// SPDX-License-Identifier: GPL-2.0-only
//! Workers that wait for a message thread: a list without locks, and a wake-up by futex, which is
//! what parking a thread is on Linux.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};

use machine::clock::now_ns;

const NOBODY: usize = usize::MAX;
/// The moment of a wake-up that has not come.
const WAITING: u64 = 0;

pub struct Worker {
    index: usize,
    thread: OnceLock<Thread>,
    /// The worker that waits behind this one.
    next: AtomicUsize,
    woken_ns: AtomicU64,
}

impl Worker {
    /// Notes the worker's thread, which has to call this before it waits.
    pub fn introduce(&self) {
        self.thread.get_or_init(thread::current);
    }
}

/// The workers of one message thread, and the list of those that wait to be woken.
pub struct Waiters {
    first: AtomicUsize,
    workers: Vec<Worker>,
}

impl Waiters {
    pub fn new(workers: usize) -> Self {
        let worker = |index| Worker {
            index,
            thread: OnceLock::new(),
            next: AtomicUsize::new(NOBODY),
            woken_ns: AtomicU64::new(WAITING),
        };
        Self { first: AtomicUsize::new(NOBODY), workers: (0..workers).map(worker).collect() }
    }

    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// Joins the list, wakes the message thread, and sleeps until that has woken it. Returns when
    /// that was, or `None` when all is over.
    pub fn wait(&self, own: &Worker, messenger: &Thread, over: &AtomicBool) -> Option<u64> {
        own.woken_ns.store(WAITING, Ordering::Relaxed);
        let mut first = self.first.load(Ordering::Relaxed);
        loop {
            own.next.store(first, Ordering::Relaxed);
            let joined = self.first.compare_exchange_weak(
                first,
                own.index,
                Ordering::Release,
                Ordering::Relaxed,
            );
            match joined {
                Ok(_) => break,
                Err(other) => first = other,
            }
        }
        messenger.unpark();
        loop {
            if over.load(Ordering::Acquire) {
                return None;
            }
            match own.woken_ns.load(Ordering::Acquire) {
                WAITING => thread::park(),
                moment => return Some(moment),
            }
        }
    }

    /// Runs the message thread: it wakes all that wait, as one batch with one moment, and sleeps
    /// until there are more.
    pub fn serve(&self, over: &AtomicBool) {
        while !over.load(Ordering::Acquire) {
            let mut next = self.first.swap(NOBODY, Ordering::Acquire);
            if next == NOBODY {
                thread::park();
                continue;
            }
            let moment = now_ns();
            while next != NOBODY {
                let worker = &self.workers[next];
                // Read before the wake-up: once woken it may join the list again at once.
                next = worker.next.load(Ordering::Relaxed);
                worker.woken_ns.store(moment, Ordering::Release);
                worker.thread.get().inspect(|thread| thread.unpark());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_waiting_worker_is_woken_as_often_as_it_waits() {
        const TIMES: usize = 500;
        let (queue, over) = (Waiters::new(3), AtomicBool::new(false));
        let woken = thread::scope(|scope| {
            let messenger = scope.spawn(|| queue.serve(&over));
            let (queue, over, thread) = (&queue, &over, messenger.thread().clone());
            let workers: Vec<_> = queue
                .workers()
                .iter()
                .map(|own| {
                    let thread = thread.clone();
                    scope.spawn(move || {
                        own.introduce();
                        let mut last = 0;
                        (0..TIMES).filter_map(|_| queue.wait(own, &thread, over)).fold(
                            0,
                            |n, at| {
                                assert!(at >= last && at <= now_ns());
                                last = at;
                                n + 1
                            },
                        )
                    })
                })
                .collect();
            let woken: Vec<_> = workers.into_iter().map(|worker| worker.join().ok()).collect();
            over.store(true, Ordering::Release);
            thread.unpark();
            woken
        });
        assert_eq!(woken, [Some(TIMES); 3]);
    }
}
