// SPDX-License-Identifier: GPL-2.0-only
//! Rules of both forms of CFQ.

mod common;

use std::collections::BTreeMap;

use common::{elevator, ids, ms, serve_all, settings};
use elevators::{Class, Direction, Elevator, MayQueue, Pool, Priority, Queue, Request};
use proptest::prelude::*;

const ROUNDS: &[&str] = &["variant=2003"];
const QUIRKS: &[&str] = &["variant=2003", "quirks=1"];
const SLICED: &[&str] = &["variant=sliced", "low_latency=0"];

fn of(priority: Priority, request: Request) -> Request {
    Request { priority, ..request }
}

fn level(level: u8) -> Priority {
    Priority { class: Class::BestEffort, level }
}

fn class(class: Class) -> Priority {
    Priority { class, level: 4 }
}

#[test]
fn a_round_takes_the_lowest_of_each_process_and_serves_in_order_of_sectors() {
    let mut cfq = elevator("cfq", ROUNDS);
    for (id, context, first) in [(1, 1, 900), (2, 1, 100), (3, 2, 50), (4, 2, 950), (5, 3, 500)] {
        cfq.add(Request::read(id, context, first, 8), 0);
    }
    // Round 1: 2, 3, 5; that is less than the quantum of 4, so round 2: 1, 4.
    assert_eq!(ids(&serve_all(&mut *cfq, 0, 1)), [3, 2, 5, 1, 4]);
}

#[test]
fn rounds_are_repeated_until_the_quantum_is_reached() {
    for (quantum, first_list) in [(1, vec![30, 10]), (2, vec![30, 10]), (3, vec![30, 31, 10, 11])] {
        let mut cfq = elevator("cfq", &["variant=2003", &format!("quantum={quantum}")]);
        for (id, context) in [(10, 1), (11, 1), (12, 1), (30, 0), (31, 0), (32, 0)] {
            cfq.add(Request::read(id, context, if context == 0 { id } else { 1000 + id }, 1), 0);
        }
        let served = ids(&serve_all(&mut *cfq, 0, 1));
        assert_eq!(served[..first_list.len()], first_list, "quantum={quantum}");
    }
}

#[test]
fn the_first_quirk_serves_the_newest_process_until_it_has_no_more() {
    let order = |pairs: &[&str]| {
        let mut cfq = elevator("cfq", pairs);
        for id in 0..8 {
            cfq.add(Request::read(id, 1, id * 8, 8), 0);
        }
        for id in 8..16 {
            cfq.add(Request::read(id, 2, id * 8, 8), 0);
        }
        ids(&serve_all(&mut *cfq, 0, 1))
    };
    let newest_first = order(QUIRKS)[..8].iter().all(|id| *id >= 8);
    let evenly = order(ROUNDS)[..8].iter().filter(|id| **id >= 8).count();
    assert_eq!((newest_first, evenly), (true, 4));
}

#[test]
fn the_second_quirk_counts_until_the_queue_is_empty() {
    for (pairs, answer) in [(ROUNDS, MayQueue::May), (QUIRKS, MayQueue::No)] {
        let mut cfq = elevator("cfq", pairs);
        cfq.add(Request::write(9000, 2, 1 << 30, 8), 0);
        for id in 0..100 {
            cfq.add(Request::write(id, 1, id * 8, 8), 0);
            cfq.add(Request::write(1000 + id, 1, (1000 + id) * 8, 8), 0);
            let write = cfq.next(0).unwrap();
            cfq.completed(&write, 0);
            if cfq.queued() > 8 {
                let write = cfq.next(0).unwrap();
                cfq.completed(&write, 0);
            }
        }
        assert!(cfq.queued() <= 10, "{}", cfq.queued());
        assert_eq!(cfq.may_queue(1, Direction::Write, &Pool::new(128)), answer, "{pairs:?}");
        serve_all(&mut *cfq, 0, 1);
        assert_eq!(cfq.may_queue(1, Direction::Write, &Pool::new(128)), MayQueue::May, "{pairs:?}");
    }
}

#[test]
fn the_third_quirk_leaves_the_list_unsorted() {
    let order = |pairs: &[&str]| {
        let mut cfq = elevator("cfq", pairs);
        // Taken in order of sectors: 10 and 30 of one process, then 5 of the other.
        cfq.add(Request::read(5, 1, 5, 1), 0);
        cfq.add(Request::read(10, 2, 10, 1), 0);
        cfq.add(Request::read(30, 2, 30, 1), 0);
        ids(&serve_all(&mut *cfq, 0, 1))
    };
    assert_eq!(order(ROUNDS), [5, 10, 30]);
    assert_eq!(order(QUIRKS), [10, 5, 30]);
}

#[test]
fn a_process_may_have_its_share_of_the_pool_and_eight_in_any_case() {
    let mut cfq = elevator("cfq", ROUNDS);
    let pool = Pool::new(128);
    for context in 0..20 {
        for index in 0..7 {
            cfq.add(
                Request::read(context * 100 + index, context, context * 1000 + index * 16, 8),
                0,
            );
        }
    }
    assert_eq!(cfq.may_queue(3, Direction::Read, &pool), MayQueue::May, "an eighth");
    cfq.add(Request::read(399, 3, 3999, 8), 0);
    assert_eq!(cfq.may_queue(3, Direction::Read, &pool), MayQueue::No, "a ninth, of 20 processes");
    assert_eq!(cfq.may_queue(3, Direction::Write, &pool), MayQueue::May, "the other direction");
    assert_eq!(cfq.may_queue(99, Direction::Read, &pool), MayQueue::May, "somebody new");
}

#[test]
fn a_queue_refuses_what_the_share_does_not_allow_but_merges_it() {
    let mut queue = Queue::new(&settings("cfq", ROUNDS));
    for context in 0..20 {
        for index in 0..8 {
            queue
                .offer(
                    Request::write(
                        context * 100 + index,
                        context,
                        context * 10_000 + index * 512,
                        8,
                    ),
                    0,
                )
                .ok();
        }
    }
    assert!(queue.offer(Request::write(9000, 3, 5, 1), 0).is_err());
    assert!(queue.offer(Request::write(9001, 3, 3 * 10_000 + 8, 8), 0).is_ok());
}

/// Serves processes that always have requests; returns how long each had the disk in a row, in ms.
fn slices(pairs: &[&str], processes: &[(u64, Priority)], until: u64) -> Vec<(u64, u64)> {
    let mut cfq = elevator("cfq", pairs);
    let (mut now, mut id) = (0, 0);
    for (context, priority) in processes {
        for _ in 0..20 {
            id += 1;
            cfq.add(
                of(*priority, Request::read(id, *context, context * 1_000_000 + id * 8, 8)),
                now,
            );
        }
    }
    let mut turns: Vec<(u64, u64, u64)> = Vec::new();
    while now < until {
        let request = cfq.next(now).expect("all have requests");
        match turns.last_mut() {
            Some((context, _, end)) if *context == request.context => *end = now + ms(2),
            _ => turns.push((request.context, now, now + ms(2))),
        }
        now += ms(2);
        cfq.completed(&request, now);
        id += 1;
        cfq.add(Request { id, first: request.first + 160, ..request }, now);
    }
    turns.pop();
    turns.into_iter().map(|(context, start, end)| (context, (end - start) / ms(1))).collect()
}

#[test]
fn slices_are_equal_and_in_turn() {
    let turns = slices(SLICED, &[(1, level(4)), (2, level(4)), (3, level(4))], ms(3000));
    assert!(turns.len() > 20, "{turns:?}");
    for (index, (context, length)) in turns.iter().enumerate() {
        assert_eq!(*context, index as u64 % 3 + 1, "{turns:?}");
        // 100 ms from the first completion, and the request that is then under way.
        assert!((100..=104).contains(length), "{turns:?}");
    }
}

#[test]
fn a_slice_is_longer_by_a_fifth_for_each_level() {
    for at in 0..8 {
        let turns = slices(SLICED, &[(1, level(at)), (2, level(4))], ms(2000));
        let meant = 100 + 20 * (4 - i64::from(at));
        let (_, length) = turns.iter().find(|(context, _)| *context == 1).unwrap();
        assert!((meant..=meant + 4).contains(&length.cast_signed()), "level {at}: {length}");
    }
}

#[test]
fn low_latency_shortens_slices_to_give_all_a_turn_in_time() {
    let many: Vec<(u64, Priority)> = (1..=10).map(|context| (context, level(4))).collect();
    let turns = slices(&["variant=sliced"], &many, ms(3000));
    for (_, length) in &turns[10..] {
        assert!((30..=34).contains(length), "300 ms for ten: {turns:?}");
    }
}

#[test]
fn the_disk_waits_for_a_process_in_its_slice() {
    let mut cfq = elevator("cfq", SLICED);
    cfq.add(Request::read(1, 1, 1000, 8), 0);
    let read = cfq.next(0).unwrap();
    cfq.add(Request::read(2, 2, 900_000, 8), 0);
    cfq.completed(&read, ms(5));
    assert!(cfq.next(ms(5)).is_none());
    assert_eq!(cfq.next_timer(), Some(ms(13)), "slice_idle_ms");
    assert_eq!(cfq.may_queue(1, Direction::Read, &Pool::new(0)), MayQueue::Must);
    cfq.add(Request::read(3, 1, 1008, 8), ms(8));
    let read = cfq.next(ms(8)).unwrap();
    assert_eq!(read.id, 3);
    cfq.completed(&read, ms(10));
    assert_eq!(cfq.next(ms(18) - 1), None);
    assert_eq!(cfq.next(ms(18)).unwrap().id, 2);
}

#[test]
fn it_does_not_wait_for_one_that_exits_or_with_slice_idle_0() {
    let served = |pairs: &[&str], exits: bool| {
        let mut cfq = elevator("cfq", pairs);
        cfq.add(Request::read(1, 1, 1000, 8), 0);
        let read = cfq.next(0).unwrap();
        cfq.add(Request::read(2, 2, 900_000, 8), 0);
        cfq.completed(&read, ms(5));
        if exits {
            cfq.process_exited(1, ms(5));
        }
        cfq.next(ms(5)).map(|request| request.id)
    };
    assert_eq!(served(SLICED, false), None);
    assert_eq!(served(SLICED, true), Some(2));
    assert_eq!(served(&["slice_idle_ms=0"], false), Some(2));
}

/// Whether the disk waits for a process that reads `step` sectors farther each time, `think` ms
/// after its last read.
fn waits_for(think: u64, step: u64) -> bool {
    let mut cfq = elevator("cfq", SLICED);
    let mut now = 0;
    for id in 0..30 {
        cfq.add(Request::read(id, 1, id * step, 8), now);
        let read = loop {
            match cfq.next(now) {
                Some(read) => break read,
                None => now = cfq.next_timer().unwrap(),
            }
        };
        now += ms(2);
        cfq.completed(&read, now);
        if id < 29 {
            now += ms(think);
        }
    }
    cfq.add(Request::read(100, 2, 1 << 40, 8), now);
    cfq.next(now).is_none()
}

#[test]
fn it_waits_for_processes_that_think_little_and_seek_little() {
    assert!(waits_for(1, 8));
    assert!(waits_for(7, 8));
    assert!(!waits_for(12, 8), "thinks longer than slice_idle_ms");
    assert!(!waits_for(1, 20_000), "seeky");
}

#[test]
fn real_time_takes_the_disk_at_once() {
    let mut cfq = elevator("cfq", SLICED);
    for id in 0..4 {
        cfq.add(Request::read(id, 1, id * 100, 8), 0);
    }
    let read = cfq.next(0).unwrap();
    cfq.completed(&read, ms(1));
    cfq.add(of(class(Class::RealTime), Request::read(9, 2, 1 << 30, 8)), ms(1));
    assert_eq!(cfq.next(ms(1)).unwrap().id, 9);
}

#[test]
fn a_read_takes_the_disk_from_asynchronous_writes() {
    let mut cfq = elevator("cfq", SLICED);
    for id in 0..6 {
        cfq.add(Request::write(id, 1, id * 100, 8), 0);
    }
    let write = cfq.next(0).unwrap();
    cfq.add(Request::read(9, 2, 1 << 30, 8), 0);
    assert!(cfq.next(0).is_none(), "the write has to leave the device");
    cfq.completed(&write, ms(1));
    assert_eq!(cfq.next(ms(1)).unwrap().id, 9);
}

#[test]
fn the_idle_class_waits_until_the_disk_was_unused_for_200_ms() {
    let mut cfq = elevator("cfq", SLICED);
    cfq.add(Request::read(1, 1, 1000, 8), 0);
    let read = cfq.next(0).unwrap();
    cfq.completed(&read, ms(5));
    cfq.process_exited(1, ms(5));
    cfq.add(of(class(Class::Idle), Request::read(2, 2, 5000, 8)), ms(6));
    assert_eq!(cfq.next(ms(6)), None);
    assert_eq!(cfq.next_timer(), Some(ms(205)));
    assert_eq!(cfq.next(ms(205)).unwrap().id, 2);
}

#[test]
fn the_idle_class_has_one_request_at_a_time_and_others_go_first() {
    let mut cfq = elevator("cfq", SLICED);
    for id in 0..4 {
        cfq.add(of(class(Class::Idle), Request::read(id, 1, id * 100, 8)), 0);
    }
    let idle = cfq.next(0).unwrap();
    cfq.add(Request::read(9, 2, 1 << 30, 8), 0);
    cfq.completed(&idle, ms(1));
    assert_eq!(cfq.next(ms(1)).unwrap().id, 9);
}

#[test]
fn the_oldest_that_has_expired_begins_a_slice() {
    let first = |now| {
        let mut cfq = elevator("cfq", SLICED);
        cfq.add(Request::read(1, 1, 900_000, 8), 0);
        cfq.add(Request::read(2, 1, 100, 8), 0);
        cfq.next(now).unwrap().id
    };
    assert_eq!((first(ms(124)), first(ms(125))), (2, 1));
}

#[test]
fn asynchronous_writes_share_a_queue_and_its_requests() {
    let mut cfq =
        elevator("cfq", &["variant=sliced", "slice_async_rq=1", "low_latency=0", "quantum=1000"]);
    for id in 0..50 {
        cfq.add(Request::write(id, id % 5, id * 8, 8), 0);
        cfq.add(of(level(6), Request::write(100 + id, id % 5, (1000 + id) * 8, 8)), 0);
    }
    let mut turns: Vec<(u8, usize)> = Vec::new();
    for request in serve_all(&mut *cfq, 0, ms(3)) {
        match turns.last_mut() {
            Some((level, count)) if *level == request.priority.level => *count += 1,
            _ => turns.push((request.priority.level, 1)),
        }
    }
    // 2 * (rq + rq * (7 - level)): 8 at level 4, 4 at level 6.
    assert_eq!(turns[..4], [(4, 8), (6, 4), (4, 8), (6, 4)], "{turns:?}");
}

#[test]
fn nothing_is_merged_across_processes() {
    let mut queue = Queue::new(&settings("cfq", SLICED));
    queue.add(Request::read(1, 1, 0, 8), 0);
    queue.add(Request::read(2, 2, 8, 8), 0);
    assert_eq!(queue.queued(), 2);
    queue.add(Request::read(3, 1, 8, 8), 0);
    assert_eq!(queue.queued(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Processes that always have requests get the same from the disk, within one slice each.
    #[test]
    fn slices_give_all_the_same(levels in prop::collection::vec(Just(4u8), 2..6), service in 1..10u64) {
        let mut cfq = elevator("cfq", SLICED);
        let mut had: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut now, mut id) = (0, 0);
        for context in 0..levels.len() as u64 {
            cfq.add(Request::read(id, context, context * 1_000_000, 8), now);
            id += 1;
        }
        while now < ms(5000) {
            match cfq.next(now) {
                Some(request) => {
                    now += ms(service);
                    *had.entry(request.context).or_default() += ms(service);
                    cfq.completed(&request, now);
                    cfq.add(Request { id, first: request.end(), ..request }, now);
                    id += 1;
                }
                None => now = cfq.next_timer().unwrap(),
            }
        }
        let (least, most) = (had.values().min().unwrap(), had.values().max().unwrap());
        prop_assert_eq!(had.len(), levels.len());
        prop_assert!(most - least <= ms(100 + 2 * service), "{:?}", had);
    }
}
