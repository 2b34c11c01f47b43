// SPDX-License-Identifier: GPL-2.0-only
//! Rules of anticipatory: when it waits, what ends the wait, batches.

mod common;

use common::reference::anticipatory::Anticipatory;
use common::{elevator, ids, ms};
use elevators::{Elevator, MayQueue, Pool, Request};
use proptest::prelude::*;

const A: u64 = 1;
const B: u64 = 2;
const FIRST: &[&str] = &["variant=2003"];
const LATER: &[&str] = &["variant=2.6"];

/// The elevator waits for process A, whose read of 8 sectors at 1000 completed at 10 ms; a read of
/// B far away is queued.
fn waiting(pairs: &[&str]) -> Box<dyn Elevator> {
    let mut elevator = elevator("anticipatory", pairs);
    elevator.add(Request::read(1, A, 1000, 8), 0);
    let read = elevator.next(0).unwrap();
    elevator.add(Request::read(2, B, 900_000, 8), ms(1));
    elevator.completed(&read, ms(10));
    assert!(elevator.next(ms(10)).is_none(), "it waits for A although B has a read queued");
    elevator
}

fn next_id(elevator: &mut dyn Elevator, now: u64) -> Option<u64> {
    elevator.next(now).map(|request| request.id)
}

#[test]
fn the_read_it_waited_for_is_served_first() {
    for pairs in [FIRST, LATER] {
        let mut elevator = waiting(pairs);
        elevator.add(Request::read(3, A, 1008, 8), ms(12));
        assert_eq!(next_id(&mut *elevator, ms(12)), Some(3));
    }
}

#[test]
fn any_request_of_that_process_ends_the_wait() {
    let mut elevator = waiting(FIRST);
    elevator.add(Request::write(3, A, 5_000_000, 8), ms(12));
    assert_eq!(
        next_id(&mut *elevator, ms(12)),
        Some(2),
        "a write: it will not read on, so the best read is served"
    );
}

#[test]
fn the_wait_ends_after_antic_expire() {
    let mut elevator = waiting(FIRST);
    assert_eq!(elevator.next_timer(), Some(ms(16)));
    assert_eq!(next_id(&mut *elevator, ms(16) - 1), None);
    assert_eq!(next_id(&mut *elevator, ms(16)), Some(2));
    let mut patient = waiting(&["antic_expire_ms=20"]);
    assert_eq!(patient.next_timer(), Some(ms(30)));
    assert_eq!(next_id(&mut *patient, ms(29)), None);
}

#[test]
fn the_wait_ends_when_the_process_exits() {
    for pairs in [FIRST, LATER] {
        let mut elevator = waiting(pairs);
        elevator.process_exited(B, ms(11));
        assert_eq!(next_id(&mut *elevator, ms(11)), None, "that was somebody else");
        elevator.process_exited(A, ms(12));
        assert_eq!(next_id(&mut *elevator, ms(12)), Some(2));
    }
}

#[test]
fn the_disk_does_not_wait_for_a_process_with_other_requests() {
    let mut elevator = elevator("anticipatory", FIRST);
    elevator.add(Request::read(1, A, 1000, 8), 0);
    let read = elevator.next(0).unwrap();
    elevator.add(Request::read(2, B, 1_000, 8), ms(1));
    elevator.add(Request::read(3, A, 900_000, 8), ms(1));
    elevator.completed(&read, ms(10));
    assert!(elevator.next(ms(10)).is_some());
}

#[test]
fn a_close_read_of_another_process_is_as_good() {
    // Milliseconds of waiting, and distances in sectors that are just close and just too far
    // (as_close_req).
    for (waited, close, far) in [(0, 64, 65), (1, 64, 65), (2, 128, 129), (4, 512, 513)] {
        for (distance, served) in [(close, Some(3)), (far, None)] {
            let mut elevator = waiting(FIRST);
            let now = ms(10 + waited);
            elevator.add(Request::read(3, B, 1008 + distance, 8), now);
            assert_eq!(
                next_id(&mut *elevator, now),
                served,
                "{distance} sectors after {waited} ms"
            );
        }
        for (distance, served) in [(close / 2, Some(3)), (close / 2 + 1, None)] {
            let mut elevator = waiting(FIRST);
            let now = ms(10 + waited);
            elevator.add(Request::read(3, B, 1008 - distance, 8), now);
            assert_eq!(
                next_id(&mut *elevator, now),
                served,
                "{distance} sectors back after {waited} ms"
            );
        }
    }
}

/// A process reads `step` sectors farther each time, `think` ms after its last read; then a read of
/// B waits.
fn taught(pairs: &[&str], think: u64, step: u64) -> (Box<dyn Elevator>, u64) {
    let mut elevator = elevator("anticipatory", pairs);
    let mut now = 0;
    for id in 0..20 {
        elevator.add(Request::read(id, A, 1000 + id * step, 8), now);
        let read = loop {
            match elevator.next(now) {
                Some(read) => break read,
                None => now = elevator.next_timer().unwrap(),
            }
        };
        now += ms(5);
        elevator.completed(&read, now);
        if id < 19 {
            now += ms(think);
        }
    }
    elevator.add(Request::read(100, B, 900_000, 8), now);
    (elevator, now)
}

#[test]
fn later_it_does_not_wait_for_processes_that_think_too_long() {
    let (mut hasty, now) = taught(LATER, 2, 8);
    assert_eq!(next_id(&mut *hasty, now), None);
    let (mut slow, now) = taught(LATER, 10, 8);
    assert_eq!(next_id(&mut *slow, now), Some(100));
    let (mut slow, now) = taught(FIRST, 10, 8);
    assert_eq!(next_id(&mut *slow, now), None, "the first version waited for everybody");
}

#[test]
fn later_a_read_nearer_than_the_usual_seek_is_served_at_once() {
    let (mut seeky, now) = taught(LATER, 2, 2_000_000);
    let near = 1000 + 19 * 2_000_000 + 8 + 100_000;
    seeky.add(Request::read(101, B, near, 8), now);
    assert_eq!(next_id(&mut *seeky, now), Some(101));
    let (mut seeky, now) = taught(FIRST, 2, 2_000_000);
    seeky.add(Request::read(101, B, near, 8), now);
    assert_eq!(next_id(&mut *seeky, now), None, "the first version did not know of seeks");
}

#[test]
fn later_newcomers_are_not_waited_for_if_most_never_come_back() {
    let serve_newcomers = |pairs: &[&str]| {
        let mut elevator = elevator("anticipatory", pairs);
        let (mut now, mut waits) = (0, Vec::new());
        for process in 0..20 {
            // Each reads once; the next is there already.
            elevator.add(Request::read(2 * process, process, 1_000_000 * (process + 1), 8), now);
            waits.push(false);
            while elevator.queued() > 0 {
                match elevator.next(now) {
                    Some(read) => {
                        now += ms(5);
                        elevator.completed(&read, now);
                    }
                    None => {
                        *waits.last_mut().unwrap() = true;
                        now = elevator.next_timer().unwrap();
                    }
                }
            }
        }
        waits
    };
    let later = serve_newcomers(LATER);
    assert!(later[1..5].iter().all(|waited| *waited), "{later:?}");
    assert!(later[10..].iter().all(|waited| !waited), "{later:?}");
    assert!(serve_newcomers(FIRST)[1..].iter().all(|waited| *waited));
}

#[test]
fn without_antic_expire_it_never_waits() {
    let mut elevator = elevator("anticipatory", &["antic_expire_ms=0"]);
    elevator.add(Request::read(1, A, 1000, 8), 0);
    let read = elevator.next(0).unwrap();
    elevator.add(Request::read(2, B, 900_000, 8), 0);
    elevator.completed(&read, ms(10));
    assert_eq!(next_id(&mut *elevator, ms(10)), Some(2));
}

#[test]
fn one_read_is_in_flight_at_a_time() {
    let mut elevator = elevator("anticipatory", FIRST);
    for id in 0..3 {
        elevator.add(Request::read(id, A, id * 8, 8), 0);
    }
    let read = elevator.next(0).unwrap();
    assert!(elevator.next(0).is_none());
    elevator.completed(&read, ms(5));
    assert!(elevator.next(ms(5)).is_some());
}

#[test]
fn the_anticipated_process_gets_a_request_even_from_an_empty_pool() {
    let elevator = waiting(FIRST);
    let pool = Pool::new(0);
    let may = |context| elevator.may_queue(context, elevators::Direction::Read, &pool);
    assert_eq!((may(A), may(B)), (MayQueue::Must, MayQueue::May));
}

#[test]
fn the_head_goes_back_only_a_little_and_only_if_that_is_half_as_far() {
    let chosen = |ahead: u64, back: u64| {
        let mut elevator = elevator("anticipatory", &["antic_expire_ms=0"]);
        let here = 10_000_000;
        elevator.add(Request::read(1, A, here - 8, 8), 0);
        let read = elevator.next(0).unwrap();
        elevator.completed(&read, 0);
        elevator.add(Request::read(2, A, here + ahead, 8), 0);
        elevator.add(Request::read(3, A, here - back, 8), 0);
        next_id(&mut *elevator, 0).unwrap()
    };
    assert_eq!(chosen(1000, 499), 3);
    assert_eq!(chosen(1000, 500), 2);
    assert_eq!(chosen(4_000_000, 1024 * 1024), 3);
    assert_eq!(chosen(4_000_000, 1024 * 1024 + 1), 2, "512 MiB are the farthest");
}

/// Keeps 50 reads and 50 writes of process A queued; returns what was dispatched when.
fn contend(pairs: &[&str], service: u64, until: u64) -> Vec<(u64, Request)> {
    let mut elevator = elevator("anticipatory", pairs);
    for id in 0..50 {
        elevator.add(Request::read(id, A, id * 8, 8), 0);
        elevator.add(Request::write(100_000 + id, A, id * 8, 8), 0);
    }
    let (mut now, mut id, mut trace) = (0, 50, Vec::new());
    while now < until {
        let request = elevator.next(now).expect("nobody waits for a process with reads queued");
        trace.push((now, request));
        now += service;
        elevator.completed(&request, now);
        let make = if request.sync { Request::read } else { Request::write };
        elevator.add(make(request.id + 1_000_000, A, id * 8, 8), now);
        id += 1;
    }
    trace
}

#[test]
fn batches_of_reads_last_half_a_second_and_those_of_writes_come_to_an_eighth() {
    let trace = contend(LATER, ms(5), ms(20_000));
    let mut batches: Vec<(u64, bool)> = Vec::new();
    for (at, request) in &trace {
        if batches.last().is_none_or(|(_, sync)| *sync != request.sync) {
            batches.push((*at, request.sync));
        }
    }
    let lengths: Vec<_> =
        batches.windows(2).map(|pair| (pair[0].1, (pair[1].0 - pair[0].0) / ms(1))).collect();
    assert_eq!(lengths[1], (false, 12 * 5), "twelve writes at first");
    assert_eq!(lengths[3], (false, 13 * 5), "one more, as it was too short");
    for (sync, length) in &lengths[lengths.len() - 10..] {
        // The time of reads counts from the first completion, and ends with the request under way.
        let meant = if *sync { 505..=515 } else { 115..=135 };
        assert!(meant.contains(length), "{lengths:?}");
    }
}

#[test]
fn a_switch_waits_until_everything_has_completed() {
    let mut elevator = elevator("anticipatory", FIRST);
    elevator.add(Request::write(1, A, 0, 8), 0);
    elevator.add(Request::write(2, A, 8, 8), 0);
    let writes = [elevator.next(0).unwrap(), elevator.next(0).unwrap()];
    elevator.add(Request::read(3, B, 1000, 8), ms(1));
    assert!(elevator.next(ms(1)).is_none());
    elevator.completed(&writes[0], ms(2));
    assert!(elevator.next(ms(2)).is_none());
    elevator.completed(&writes[1], ms(3));
    assert_eq!(next_id(&mut *elevator, ms(3)), Some(3));
}

#[test]
fn a_batch_of_reads_begins_with_the_oldest() {
    let mut elevator = elevator("anticipatory", FIRST);
    elevator.add(Request::write(1, A, 0, 8), 0);
    let write = elevator.next(0).unwrap();
    elevator.add(Request::read(2, A, 5000, 8), 0);
    elevator.add(Request::read(3, A, 100, 8), 0);
    elevator.completed(&write, ms(1));
    let read = elevator.next(ms(1)).unwrap();
    elevator.completed(&read, ms(2));
    assert_eq!([read.id, next_id(&mut *elevator, ms(2)).unwrap()], [2, 3]);
}

#[test]
fn the_oldest_read_is_served_first_once_in_an_expiry() {
    let mut elevator = elevator("anticipatory", &["antic_expire_ms=1"]);
    for id in 0..10 {
        elevator.add(Request::read(id, A, 1000 - id * 8, 8), 0);
    }
    let mut served = Vec::new();
    for at in [0, 50, 124, 125, 130, 249, 250] {
        let read = elevator.next(ms(at)).unwrap();
        served.push(read);
        elevator.completed(&read, ms(at));
    }
    // In order of sectors, except at 125 and at 250 ms.
    assert_eq!(ids(&served), [9, 8, 7, 0, 1, 2, 3]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn anticipatory_is_its_reference(
        steps in prop::collection::vec((0..6u8, 0..3u64, any::<bool>(), 0..8_000_000u64), 1..400),
        sectors in Just((0..400u64).collect::<Vec<_>>()).prop_shuffle(),
        far in prop::sample::select(vec![8u64, 60, 3_000_000]),
        history: bool,
    ) {
        let mut elevator = elevator("anticipatory", if history { LATER } else { FIRST });
        let mut reference = Anticipatory::new(history);
        let (mut now, mut in_flight) = (0, Vec::new());
        for (id, (what, context, reads, passed)) in steps.into_iter().enumerate() {
            now += passed;
            match what {
                0 | 1 => {
                    let make = if reads { Request::read } else { Request::write };
                    let request = make(id as u64, context, sectors[id] * far, 8);
                    elevator.add(request, now);
                    reference.add(request, now);
                }
                2 if !in_flight.is_empty() => {
                    let request: Request = in_flight.remove(0);
                    elevator.completed(&request, now);
                    reference.completed(&request, now);
                }
                3 if context == 2 && reads => {
                    elevator.process_exited(context, now);
                    reference.exited(context, now);
                }
                _ => {}
            }
            let chosen = elevator.next(now);
            prop_assert_eq!(chosen, reference.next(now), "step {}", id);
            in_flight.extend(chosen);
        }
    }
}
