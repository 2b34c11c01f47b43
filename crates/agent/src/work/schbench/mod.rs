// SPDX-License-Identifier: GPL-2.0-only
//! Message threads that wake workers, after schbench by Chris Mason: how long a worker waits for its
//! CPU after it was woken, and how long one request takes. specs/benchmarks/workloads.md section 5.

mod locks;
mod matrices;
mod queue;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle, Thread};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use hdrhistogram::Histogram;
use serde::Serialize;

use super::process::now;
use crate::measure::cpu_count;
use locks::Locks;
use matrices::Matrices;
use queue::{Queue, Worker};

#[derive(Debug, Args)]
pub struct Schbench {
    /// Threads that wake workers
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    message_threads: u16,
    /// Workers of each of them
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: u16,
    /// How long a request sleeps before it computes
    #[arg(long, value_name = "US", default_value_t = 100)]
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
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    warm_up: f64,
    /// How long they run after that
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
}

/// Latencies in microseconds, to a thousandth of themselves.
#[derive(Debug, Serialize)]
pub struct Report {
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
    /// Begun in the measured time, and all of them ended.
    requests: u64,
    requests_per_s: f64,
}

/// What one worker has seen.
struct Seen {
    wakeups_ns: Histogram<u64>,
    requests_ns: Histogram<u64>,
}

/// When things count, and when all end.
struct Times {
    from_ns: u64,
    over: AtomicBool,
}

impl Schbench {
    /// # Errors
    /// The threads cannot be started, or no request was begun in time.
    pub fn run(&self) -> Result<Report> {
        let length = |seconds| Duration::try_from_secs_f64(seconds).context("no length of time");
        let (warm_up, measured) = (length(self.warm_up)?, length(self.seconds)?);
        ensure!(!measured.is_zero(), "--seconds must be positive");
        let locks = (!self.no_locks).then(|| Locks::new(cpu_count()));
        let queues: Vec<_> =
            (0..self.message_threads).map(|_| Queue::new(self.workers.into())).collect();
        let from = now() + warm_up;
        let times = Times { from_ns: nanoseconds(from), over: AtomicBool::new(false) };
        let seen = thread::scope(|scope| {
            let mut sleepers = Vec::new();
            let workers = self.start(scope, &queues, &times, locks.as_ref(), &mut sleepers);
            if workers.is_ok() {
                thread::sleep((from + measured).saturating_sub(now()));
            }
            times.over.store(true, Ordering::Release);
            sleepers.iter().for_each(Thread::unpark);
            let join = |worker: ScopedJoinHandle<Result<Seen>>| {
                worker.join().map_err(|_| anyhow!("a worker ended early"))?
            };
            workers?.into_iter().map(join).collect::<Result<Vec<_>>>()
        })?;
        report(&seen, measured)
    }

    /// The workers; `sleepers` gets all threads that have to be woken in the end, even after an error.
    fn start<'scope, 'env>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        queues: &'env [Queue],
        times: &'env Times,
        locks: Option<&'env Locks>,
        sleepers: &mut Vec<Thread>,
    ) -> Result<Vec<ScopedJoinHandle<'scope, Result<Seen>>>> {
        let mut workers = Vec::new();
        for queue in queues {
            let messenger = builder()
                .spawn_scoped(scope, || queue.serve(&times.over))
                .context("cannot start a message thread")?;
            sleepers.push(messenger.thread().clone());
            for own in queue.workers() {
                let messenger = messenger.thread().clone();
                let work = move || self.work(own, queue, &messenger, times, locks);
                let worker =
                    builder().spawn_scoped(scope, work).context("cannot start a worker")?;
                sleepers.push(worker.thread().clone());
                workers.push(worker);
            }
        }
        Ok(workers)
    }

    /// Waits to be woken, does one request, and again.
    fn work(
        &self,
        own: &Worker,
        queue: &Queue,
        messenger: &Thread,
        times: &Times,
        locks: Option<&Locks>,
    ) -> Result<Seen> {
        let mut seen = Seen { wakeups_ns: histogram()?, requests_ns: histogram()? };
        let mut matrices = Matrices::of(self.footprint_kb);
        own.introduce();
        while let Some(woken_ns) = queue.wait(own, messenger, &times.over) {
            let start_ns = nanoseconds(now());
            thread::sleep(Duration::from_micros(self.sleep_us));
            let lock = locks.map(Locks::acquire);
            (0..self.operations).for_each(|_| matrices.multiply());
            drop(lock);
            if start_ns >= times.from_ns {
                seen.wakeups_ns.saturating_record(start_ns.saturating_sub(woken_ns));
                seen.requests_ns.saturating_record(nanoseconds(now()) - start_ns);
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

/// Up to an hour, in steps of a thousandth.
fn histogram() -> Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, 3_600_000_000_000, 3)?)
}

fn report(seen: &[Seen], measured: Duration) -> Result<Report> {
    let (mut wakeups, mut requests) = (histogram()?, histogram()?);
    for each in seen {
        wakeups.add(&each.wakeups_ns)?;
        requests.add(&each.requests_ns)?;
    }
    ensure!(!requests.is_empty(), "no request was begun in {measured:?}: let it run longer");
    let us = |ns: u64| ns as f64 / 1e3;
    let at = |histogram: &Histogram<u64>, share| us(histogram.value_at_quantile(share));
    Ok(Report {
        wakeup_p50_us: at(&wakeups, 0.5),
        wakeup_p90_us: at(&wakeups, 0.9),
        wakeup_p99_us: at(&wakeups, 0.99),
        wakeup_p999_us: at(&wakeups, 0.999),
        wakeup_max_us: us(wakeups.max()),
        request_p50_us: at(&requests, 0.5),
        request_p90_us: at(&requests, 0.9),
        request_p99_us: at(&requests, 0.99),
        request_p999_us: at(&requests, 0.999),
        request_max_us: us(requests.max()),
        requests: requests.len(),
        requests_per_s: requests.len() as f64 / measured.as_secs_f64(),
    })
}
