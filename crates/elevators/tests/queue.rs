// SPDX-License-Identifier: GPL-2.0-only
//! The queue around every elevator: merging, barriers, the pool, parameters.

mod common;

use common::{elevator, ids, ms, settings};
use elevators::catalogue::{ELEVATORS, VARIANTS, find};
use elevators::{Direction, Elevator, Queue, Request, Settings};
use proptest::prelude::*;

fn queue(name: &str, pairs: &[&str]) -> Queue {
    Queue::new(&settings(name, pairs))
}

fn drain(queue: &mut Queue) -> Vec<Request> {
    let (mut now, mut served) = (0, Vec::new());
    while queue.queued() > 0 {
        match queue.next(now) {
            Some(request) => {
                now += ms(1);
                queue.completed(request.id, now);
                served.push(request);
            }
            None => now = queue.next_timer().unwrap(),
        }
    }
    served
}

#[test]
fn completion_of_a_merged_request_completes_all_its_parts_in_order() {
    for (name, pairs) in VARIANTS {
        let mut queue = queue(name, pairs);
        let front = if *name == "noop" { 24 } else { 0 };
        for (id, first) in [(1, 8), (2, 16), (3, front)] {
            queue.add(Request::read(id, 1, first, 8), 0);
        }
        assert_eq!(queue.queued(), 1, "{name} {pairs:?}");
        let request = queue.next(0).unwrap();
        assert_eq!((request.first, request.sectors), (front.min(8), 24));
        let order = if front == 0 { [3, 1, 2] } else { [1, 2, 3] };
        assert_eq!(ids(&queue.completed(request.id, 1)), order);
    }
}

#[test]
fn a_request_that_fills_a_gap_joins_both_neighbours() {
    for (name, pairs) in VARIANTS {
        let mut queue = queue(name, pairs);
        queue.add(Request::write(1, 1, 0, 8), 0);
        queue.add(Request::write(2, 1, 16, 8), 0);
        queue.add(Request::write(3, 1, 8, 8), 0);
        assert_eq!(
            (queue.queued(), queue.pool().used(Direction::Write)),
            (1, 1),
            "{name} {pairs:?}"
        );
        let request = queue.next(0).unwrap();
        assert_eq!((request.first, request.sectors), (0, 24));
        assert_eq!(ids(&queue.completed(request.id, 1)), [1, 3, 2]);
        assert_eq!(queue.pool().used(Direction::Write), 0);
    }
}

#[test]
fn nothing_is_merged_beyond_128_kib_or_across_directions_or_after_dispatch() {
    for (name, pairs) in VARIANTS {
        let mut queue = queue(name, pairs);
        queue.add(Request::read(1, 1, 0, 200), 0);
        queue.add(Request::read(2, 1, 200, 57), 0);
        queue.add(Request::write(3, 1, 257, 8), 0);
        assert_eq!(queue.queued(), 3, "{name} {pairs:?}");
        queue.add(Request::read(4, 1, 257, 8), 0);
        assert_eq!(queue.queued(), 3);
        let first = queue.next(0).unwrap();
        let touching = Request { id: 5, first: first.end(), sectors: 1, ..first };
        queue.add(touching, 0);
        assert!(!queue.completed(first.id, 1).iter().any(|part| part.id == 5), "{name} {pairs:?}");
    }
}

#[test]
fn deadline_may_leave_the_front_alone() {
    let queued = |pairs: &[&str]| {
        let mut queue = queue("deadline", pairs);
        queue.add(Request::read(1, 1, 8, 8), 0);
        queue.add(Request::read(2, 1, 0, 8), 0);
        queue.queued()
    };
    assert_eq!((queued(&[]), queued(&["front_merges=0"])), (1, 2));
}

#[test]
fn the_survivor_inherits_the_earlier_expiry_and_place() {
    for variant in ["variant=2.5.63-mm2", "variant=mq"] {
        let mut queue = queue("deadline", &[variant]);
        queue.add(Request::read(1, 1, 10_016, 8), 0);
        queue.add(Request::read(2, 1, 10_000, 8), ms(300));
        queue.add(Request::read(3, 1, 100, 8), ms(300));
        // Joins 2 with the older 1, which then expires at 500 ms.
        queue.add(Request::read(4, 1, 10_008, 8), ms(400));
        assert_eq!(queue.queued(), 2);
        assert_eq!(queue.next(ms(500)).unwrap().id, 2, "{variant}");
    }
}

#[test]
fn no_request_passes_a_barrier() {
    for (name, pairs) in VARIANTS {
        let mut queue = queue(name, pairs);
        for id in 0..20 {
            let make = if id % 3 == 0 { Request::write } else { Request::read };
            queue.add(make(id, id % 4, 1_000_000 - id * 1000, 8), 0);
        }
        queue.add(Request::flush(100, 1), 0);
        for id in 200..220 {
            queue.add(Request::read(id, id % 4, id * 16, 8), 0);
        }
        let served = ids(&drain(&mut queue));
        assert_eq!(served.len(), 41, "{name} {pairs:?}");
        assert!(served[..20].iter().all(|id| *id < 20), "{name} {pairs:?}: {served:?}");
        assert_eq!(served[20], 100);
    }
}

#[test]
fn a_barrier_is_not_held_up_by_anticipation() {
    for (name, pairs) in [("anticipatory", &[][..]), ("cfq", &[])] {
        let mut queue = queue(name, pairs);
        queue.add(Request::read(1, 1, 0, 8), 0);
        let read = queue.next(0).unwrap();
        queue.add(Request::read(2, 2, 1_000_000, 8), 0);
        queue.completed(read.id, ms(1));
        assert!(queue.next(ms(1)).is_none());
        queue.add(Request::flush(3, 3), ms(1));
        assert_eq!([queue.next(ms(1)).unwrap().id, queue.next(ms(1)).unwrap().id], [2, 3]);
    }
}

#[test]
fn the_pool_has_128_of_each_direction() {
    for (name, pairs) in VARIANTS {
        let mut queue = queue(name, pairs);
        // 8 processes, none of which reaches its share of CFQ #2.
        let offer = |queue: &mut Queue, id: u64, make: fn(u64, u64, u64, u64) -> Request| {
            queue.offer(make(id, id % 8, id * 1000, 8), 0).is_ok()
        };
        let taken = (0..200).filter(|id| offer(&mut queue, *id, Request::read)).count();
        assert!(
            if *name == "cfq" { (120..=128).contains(&taken) } else { taken == 128 },
            "{name} {pairs:?}: {taken}"
        );
        assert!(offer(&mut queue, 300, Request::write), "{name} {pairs:?}");
        assert!(
            queue.offer(Request::read(400, 0, 8, 8), 0).is_ok(),
            "what can be merged needs none"
        );
    }
}

#[test]
fn every_variant_can_be_built_and_every_default_is_allowed() {
    for description in ELEVATORS {
        let settings = Settings::new(description);
        assert!(settings.get("nr_requests") == 128);
        for parameter in description.all_parameters() {
            assert!(parameter.sentence.ends_with('.'), "{}", parameter.name);
        }
    }
    for (name, pairs) in VARIANTS {
        assert_eq!(elevator(name, pairs).queued(), 0);
    }
}

#[test]
fn descriptions_can_be_printed_as_json() {
    let deadline = serde_json::to_value(find("deadline").unwrap()).unwrap();
    let parameters = deadline["parameters"].as_array().unwrap();
    assert_eq!(deadline["name"], "deadline");
    assert_eq!(
        parameters[0]["choices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect::<Vec<_>>(),
        ["2.5.63", "2.5.63-mm2", "mq"]
    );
    let expected = serde_json::json!({
        "name": "prio_aging_expire_ms", "unit": "ms", "min": 1, "max": 600_000, "default": 10_000, "variants": ["mq"],
        "sentence": "A request of a worse class that waits longer goes before better classes.",
    });
    assert!(parameters.contains(&expected), "{parameters:?}");
    assert_eq!(parameters.last().unwrap()["name"], "max_sectors_kb");
}

#[test]
fn errors_name_the_parameter_and_what_it_may_be() {
    let error = |pairs: &[&str]| {
        Settings::parse(find("deadline").unwrap(), pairs.iter().copied()).unwrap_err().to_string()
    };
    assert_eq!(
        error(&["write_expire_ms=0"]),
        "write_expire_ms=0 is out of range; it may be 1..600000 ms"
    );
    assert_eq!(
        error(&["fifo_batch=many"]),
        "fifo_batch=\"many\" is not a whole number; it may be 1..1024"
    );
    assert_eq!(error(&["variant=2.4"]), "variant=\"2.4\" is none of 2.5.63, 2.5.63-mm2, mq");
    assert_eq!(error(&["fifo_batch"]), "\"fifo_batch\" is not key=value");
    assert_eq!(error(&["fifo_batch=1", "fifo_batch=2"]), "fifo_batch is given twice");
    assert_eq!(
        error(&["prio_aging_expire_ms=5", "variant=2.5.63"]),
        "prio_aging_expire_ms is for variant=mq only, not for variant=2.5.63"
    );
    assert!(
        error(&["quantum=4"])
            .starts_with("deadline has no parameter \"quantum\"; it has variant, read_expire_ms,")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// However requests are merged, all sectors of all requests are served, each part once.
    #[test]
    fn merging_loses_nothing(
        which in 0..VARIANTS.len(),
        requests in prop::collection::vec((0..40u64, 1..5u64, any::<bool>(), 0..3u64, 0..4u8), 1..150),
    ) {
        let (name, pairs) = VARIANTS[which];
        let mut queue = queue(name, pairs);
        let (mut added, mut parts, mut now) = (Vec::new(), Vec::new(), 0);
        let mut finish = |queue: &mut Queue, now: &mut u64| {
            match queue.next(*now) {
                Some(request) => {
                    *now += ms(3);
                    let completed = queue.completed(request.id, *now);
                    let sectors: u64 = completed.iter().map(|part| part.sectors).sum();
                    assert_eq!((sectors, completed[0].first), (request.sectors, request.first));
                    assert!(completed.iter().all(|part| part.direction == request.direction));
                    parts.extend(completed);
                }
                None => *now = queue.next_timer().unwrap_or(*now),
            }
        };
        for (id, (block, blocks, reads, context, finishes)) in requests.into_iter().enumerate() {
            let make = if reads { Request::read } else { Request::write };
            let request = make(id as u64, context, block * 8, blocks * 8);
            queue.add(request, now);
            added.push(request);
            if finishes == 0 {
                finish(&mut queue, &mut now);
            }
        }
        while queue.queued() > 0 {
            finish(&mut queue, &mut now);
        }
        parts.sort_by_key(|part| part.id);
        prop_assert_eq!(parts, added);
    }
}
