// SPDX-License-Identifier: GPL-2.0-only
//! A process that sleeps because the pool grants it no request does not keep others from one.
#![expect(clippy::cast_possible_truncation, reason = "a pool is small")]

mod common;

use common::settings;
use elevators::{MS, Queue, Request, WaitQueue};

const POOL: u64 = 8;
/// Far enough apart that nothing is merged.
const APART: u64 = 1000;

fn wait_queue(name: &str, pairs: &[&str]) -> WaitQueue {
    let pool = format!("nr_requests={POOL}");
    let pairs: Vec<&str> = pairs.iter().copied().chain([pool.as_str()]).collect();
    WaitQueue::new(Queue::new(&settings(name, &pairs)))
}

/// Serves one request after the other until none is left, 5 ms each; returns their ids.
fn served(queue: &mut WaitQueue, now: &mut u64) -> Vec<u64> {
    let mut ids = Vec::new();
    while queue.waiting() > 0 {
        let Some(request) = queue.next(*now) else {
            *now = queue.next_timer().expect("something waits").max(*now);
            continue;
        };
        *now += 5 * MS;
        queue.completed(request.id, *now);
        ids.push(request.id);
    }
    ids
}

fn read(id: u64, context: u64) -> Request {
    Request::read(id, context, id * APART, 8)
}

fn write(id: u64, context: u64) -> Request {
    Request::write(id, context, id * APART, 8)
}

#[test]
fn a_process_that_asks_for_too_much_sleeps_alone() {
    let mut queue = wait_queue("noop", &[]);
    (0..100).for_each(|id| queue.add(read(id, 1), 0));
    queue.add(read(100, 2), 0);
    let ids = served(&mut queue, &mut 0);
    let place = ids.iter().position(|&id| id == 100).unwrap() as u64;
    // One request of the other process is granted first, because that process has slept longer.
    assert_eq!(place, POOL + 1);
    assert_eq!(ids.len(), 101);
}

#[test]
fn sleeping_processes_take_turns() {
    let mut queue = wait_queue("noop", &[]);
    for id in 0..90 {
        queue.add(read(id, id / 30), 0);
    }
    let ids = served(&mut queue, &mut 0);
    let turns: Vec<_> = ids[POOL as usize..][..12].iter().map(|id| id / 30).collect();
    assert_eq!(turns, [0, 1, 2].repeat(4));
    for context in 0..3 {
        let own: Vec<_> = ids.iter().filter(|&id| id / 30 == context).collect();
        assert!(own.is_sorted(), "in the order in which it asked");
    }
}

#[test]
fn a_merged_request_takes_none_from_the_pool() {
    let mut queue = wait_queue("noop", &[]);
    (0..=POOL).for_each(|id| queue.add(read(id, 1), 0));
    assert_eq!(queue.waiting() as u64, POOL + 1);
    queue.add(Request::read(100, 2, 8, 8), 0);
    assert_eq!(queue.waiting() as u64, POOL + 1);
}

#[test]
fn a_writer_above_its_share_does_not_hold_up_others() {
    let mut queue = WaitQueue::new(Queue::new(&settings("cfq", &["variant=2003"])));
    // With two busy processes the share is (128 - 8) / 2.
    queue.add(write(1000, 2), 0);
    (0..200).for_each(|id| queue.add(write(id, 1), 0));
    queue.add(write(1001, 2), 0);
    queue.add(write(1002, 3), 0);
    let ids = served(&mut queue, &mut 0);
    let place = |wanted| ids.iter().position(|&id| id == wanted).unwrap();
    assert!(place(1001) < 20 && place(1002) < 20, "{} {}", place(1001), place(1002));
}

#[test]
fn the_anticipated_process_is_not_behind_sleepers() {
    for variant in ["variant=2003", "variant=2.6"] {
        let mut queue = wait_queue("anticipatory", &[variant]);
        queue.add(read(500, 1), 0);
        let first = queue.next(0).unwrap();
        (0..100).for_each(|id| queue.add(read(id, 2), 0));
        queue.completed(first.id, 5 * MS);
        // The head waits for the process that it has just served, whose next request is near.
        assert!(queue.next(5 * MS).is_none(), "{variant}");
        queue.add(Request::read(501, 1, 500 * APART + 8, 8), 6 * MS);
        assert_eq!(queue.next(6 * MS).map(|request| request.id), Some(501), "{variant}");
    }
}
