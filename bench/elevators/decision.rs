// SPDX-License-Identifier: GPL-2.0-only
//! The cost of an elevator with 256 requests waiting: the choice of the next one alone, and
//! completion, choice and arrival of another together.
//!
//! usage: cargo bench --manifest-path bench/elevators/Cargo.toml

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use elevators::catalogue::{self, VARIANTS};
use elevators::{MS, Queue, Request, Settings};

const WAITING: u64 = 256;

/// Requests of 16 processes, two reads to a write, all over the disk, none of which can be merged.
struct Arrivals(u64);

impl Arrivals {
    fn next(&mut self) -> Request {
        self.0 += 1;
        let first = (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 38) * 16;
        let make = if self.0.is_multiple_of(3) { Request::write } else { Request::read };
        make(self.0, self.0 % 16, first, 8)
    }
}

/// Waits on behalf of the elevator, if it holds the disk idle.
fn choose(queue: &mut Queue, now: &mut u64) -> Request {
    loop {
        if let Some(request) = queue.next(*now) {
            return request;
        }
        *now = queue.next_timer().expect("nothing is in flight").max(*now);
    }
}

/// A queue that is kept full of waiting requests.
struct Load {
    queue: Queue,
    arrivals: Arrivals,
    now: u64,
}

impl Load {
    fn new(name: &str, pairs: &[&str]) -> Self {
        let description = catalogue::find(name).expect("it is in the catalogue");
        let settings =
            Settings::parse(description, pairs.iter().copied()).expect("they are allowed");
        let (mut queue, mut arrivals) = (Queue::new(&settings), Arrivals(0));
        (0..WAITING).for_each(|_| queue.add(arrivals.next(), 0));
        Self { queue, arrivals, now: 0 }
    }

    /// Serves one request from choice to completion and adds another. Returns how long the choice
    /// took.
    fn step(&mut self) -> Duration {
        let start = Instant::now();
        let request = choose(&mut self.queue, &mut self.now);
        let took = start.elapsed();
        self.now += 5 * MS;
        black_box(self.queue.completed(request.id, self.now));
        self.queue.add(self.arrivals.next(), self.now);
        took
    }
}

fn decisions(criterion: &mut Criterion) {
    for (name, pairs) in VARIANTS {
        let label = format!("{name} {}", pairs.join(" "));
        let mut load = Load::new(name, pairs);
        criterion.bench_function(&format!("choice/{label}"), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| load.step()).sum());
        });
        criterion
            .bench_function(&format!("request/{label}"), |bencher| bencher.iter(|| load.step()));
        assert_eq!(load.queue.queued() as u64, WAITING);
    }
}

criterion_group!(benches, decisions);
criterion_main!(benches);
