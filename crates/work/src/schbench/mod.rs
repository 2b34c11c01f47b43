// SPDX-License-Identifier: GPL-2.0-only
//! Message threads that wake workers, after schbench by Chris Mason: how long a worker waits for its
//! CPU after it was woken, and how long one request takes (git 24e32b8 of December 2025).

mod locks;
mod matrices;
mod waiters;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use hdrhistogram::Histogram;
use procfs::{Current, Meminfo};
use serde::Serialize;

use crate::figures::as_f64;
use crate::percentiles::{P50, P90, P99, P999, of_histogram};
use crate::start::refused;
use crate::usage::{length, length_or_none};
use locks::Locks;
use machine::clock::{now, now_ns};
use machine::cpus;
use matrices::Matrices;
use waiters::Waiters;

/// The longest sleep of a request: a minute.
const LONGEST_SLEEP_US: u64 = 60_000_000;

#[derive(Debug, Args)]
pub struct Schbench {
    /// Threads that wake workers
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    message_threads: u16,
    /// Workers of each of them
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: u16,
    /// How long a request sleeps before it computes
    #[arg(long, value_name = "US", default_value_t = 100,
          value_parser = clap::value_parser!(u64).range(..=LONGEST_SLEEP_US))]
    sleep_us: u64,
    /// Matrix multiplications of a request
    #[arg(long, default_value_t = 5)]
    operations: u32,
    /// What the three matrices of a worker take
    #[arg(long, value_name = "KB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    footprint_kb: u32,
    /// Compute without the lock of the CPU
    #[arg(long)]
    no_locks: bool,
    /// How long they run before anything counts
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = length_or_none)]
    warm_up: Duration,
    /// How long they run after that
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = length)]
    seconds: Duration,
}

/// Latencies in microseconds, to a thousandth of themselves.
#[derive(Debug, Serialize)]
pub struct Figures {
    wakeup_p50_us: f64,
    wakeup_p90_us: f64,
    wakeup_p99_us: f64,
    wakeup_p999_us: f64,
    wakeup_max_us: f64,
    request_p50_us: f64,
    request_p90_us: f64,
    request_p99_us: f64,
    request_p999_us: f64,
    request_max_us: f64,
    /// Requests that began in the measured time; all of them ended.
    requests: u64,
    requests_per_s: f64,
}

/// The latencies of one worker.
struct Seen {
    wakeups_ns: Histogram<u64>,
    requests_ns: Histogram<u64>,
}

/// The state that all threads share. Each holds it: when one of them cannot start, the program ends
/// without waiting for the requests of the others.
struct Bench {
    sleep: Duration,
    operations: u32,
    footprint_kb: u32,
    locks: Option<Locks>,
    waiters: Vec<Waiters>,
    /// When the measured time begins.
    from_ns: u64,
    /// Set when all threads have to end.
    over: AtomicBool,
}

impl Schbench {
    /// # Errors
    /// The threads cannot be started, or no request was begun in time.
    pub fn run(&self) -> Result<Figures> {
        self.require_memory()?;
        let (warm_up, measured) = (self.warm_up, self.seconds);
        let locks = (!self.no_locks).then(|| Locks::new(cpus::count()));
        let waiters: Vec<_> =
            (0..self.message_threads).map(|_| Waiters::new(self.workers.into())).collect();
        let from = now() + warm_up;
        let bench = Arc::new(Bench {
            sleep: Duration::from_micros(self.sleep_us),
            operations: self.operations,
            footprint_kb: self.footprint_kb,
            locks,
            waiters,
            from_ns: nanoseconds(from),
            over: AtomicBool::new(false),
        });
        let Threads { workers, sleepers } = start(&bench)?;
        thread::sleep((from + measured).saturating_sub(now()));
        bench.over.store(true, Ordering::Release);
        sleepers.iter().for_each(Thread::unpark);
        let join = |worker: JoinHandle<Result<Seen>>| {
            worker.join().map_err(|_| anyhow!("a worker ended early"))?
        };
        let seen = workers.into_iter().map(join).collect::<Result<Vec<_>>>()?;
        report(&seen, measured)
    }
}

impl Schbench {
    /// Refuses to start if memory does not suffice, before the kernel has to kill a process.
    fn require_memory(&self) -> Result<()> {
        let workers = u64::from(self.message_threads) * u64::from(self.workers);
        let needed_mb = (workers * u64::from(self.footprint_kb)) >> 10;
        let has_mb = Meminfo::current().context("cannot read /proc/meminfo")?.mem_total >> 20;
        ensure!(
            needed_mb <= has_mb,
            "the matrices of {workers} workers need {needed_mb} MB, this machine has {has_mb} MB: \
             take fewer or a smaller footprint"
        );
        Ok(())
    }
}

#[derive(Default)]
struct Threads {
    workers: Vec<JoinHandle<Result<Seen>>>,
    /// All threads, which have to be woken at the end.
    sleepers: Vec<Thread>,
}

fn start(bench: &Arc<Bench>) -> Result<Threads> {
    let Threads { mut workers, mut sleepers } = Threads::default();
    let count: usize = bench.waiters.iter().map(|queue| 1 + queue.workers().len()).sum();
    let refused = |before: usize, error: io::Error| {
        refused(&format!("thread {} of {count}", before + 1), &error.into())
    };
    for queue in 0..bench.waiters.len() {
        let own = Arc::clone(bench);
        let messenger = builder()
            .spawn(move || own.waiters[queue].serve(&own.over))
            .map_err(|error| refused(sleepers.len(), error))?;
        sleepers.push(messenger.thread().clone());
        for worker in 0..bench.waiters[queue].workers().len() {
            let (own, messenger) = (Arc::clone(bench), messenger.thread().clone());
            let worker = builder()
                .spawn(move || own.work(queue, worker, &messenger))
                .map_err(|error| refused(sleepers.len(), error))?;
            sleepers.push(worker.thread().clone());
            workers.push(worker);
        }
    }
    Ok(Threads { workers, sleepers })
}

impl Bench {
    /// Waits to be woken, does one request, and again.
    fn work(&self, queue: usize, worker: usize, messenger: &Thread) -> Result<Seen> {
        let queue = &self.waiters[queue];
        let own = &queue.workers()[worker];
        let mut seen = Seen { wakeups_ns: histogram()?, requests_ns: histogram()? };
        let mut matrices = Matrices::of(self.footprint_kb);
        own.introduce();
        while let Some(woken_ns) = queue.wait(own, messenger, &self.over) {
            let start_ns = now_ns();
            thread::sleep(self.sleep);
            let lock = self.locks.as_ref().map(Locks::acquire);
            (0..self.operations).for_each(|_| matrices.multiply());
            drop(lock);
            if start_ns >= self.from_ns {
                seen.wakeups_ns.saturating_record(start_ns.saturating_sub(woken_ns));
                seen.requests_ns.saturating_record(now_ns() - start_ns);
            }
        }
        Ok(seen)
    }
}

fn builder() -> thread::Builder {
    // The matrices are on the heap.
    thread::Builder::new().stack_size(64 * 1024)
}

fn nanoseconds(at: Duration) -> u64 {
    u64::try_from(at.as_nanos()).unwrap_or(u64::MAX)
}

/// Times in ns up to an hour, in steps of a thousandth.
fn histogram() -> Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, 3_600_000_000_000, 3)?)
}

fn report(seen: &[Seen], measured: Duration) -> Result<Figures> {
    let (mut wakeups, mut requests) = (histogram()?, histogram()?);
    for each in seen {
        wakeups.add(&each.wakeups_ns)?;
        requests.add(&each.requests_ns)?;
    }
    ensure!(!requests.is_empty(), "no request was begun in {measured:?}: let it run longer");
    let us = |ns: u64| as_f64(ns) / 1e3;
    let at = |histogram, per_mille| us(of_histogram(histogram, per_mille));
    Ok(Figures {
        wakeup_p50_us: at(&wakeups, P50),
        wakeup_p90_us: at(&wakeups, P90),
        wakeup_p99_us: at(&wakeups, P99),
        wakeup_p999_us: at(&wakeups, P999),
        wakeup_max_us: us(wakeups.max()),
        request_p50_us: at(&requests, P50),
        request_p90_us: at(&requests, P90),
        request_p99_us: at(&requests, P99),
        request_p999_us: at(&requests, P999),
        request_max_us: us(requests.max()),
        requests: requests.len(),
        requests_per_s: as_f64(requests.len()) / measured.as_secs_f64(),
    })
}
