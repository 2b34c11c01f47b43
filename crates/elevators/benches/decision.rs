// SPDX-License-Identifier: GPL-2.0-only
//! What one decision costs with 256 requests waiting: completion of one, choice of the next, arrival of another.
//!
//! usage: cargo bench -p elevators

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use elevators::{MS, Queue, Request, Settings, catalogue};

const WAITING: u64 = 256;
const VARIANTS: &[(&str, &[&str])] = &[
    ("noop", &[]),
    ("deadline", &["variant=2.5.63-mm2"]),
    ("deadline", &["variant=mq"]),
    ("anticipatory", &["variant=2003"]),
    ("anticipatory", &["variant=2.6"]),
    ("cfq", &["variant=2003"]),
    ("cfq", &["variant=sliced"]),
];

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

fn decisions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decision");
    for (name, pairs) in VARIANTS {
        let description = catalogue::find(name).expect("it is in the catalogue");
        let settings =
            Settings::parse(description, pairs.iter().copied()).expect("they are allowed");
        let mut queue = Queue::new(&settings);
        let (mut arrivals, mut now) = (Arrivals(0), 0);
        (0..WAITING).for_each(|_| queue.add(arrivals.next(), now));
        group.bench_function(format!("{name} {}", pairs.join(" ")), |bencher| {
            bencher.iter(|| {
                let request = choose(&mut queue, &mut now);
                now += 5 * MS;
                black_box(queue.completed(request.id, now));
                queue.add(arrivals.next(), now);
            });
        });
        assert_eq!(queue.queued() as u64, WAITING);
    }
}

criterion_group!(benches, decisions);
criterion_main!(benches);
