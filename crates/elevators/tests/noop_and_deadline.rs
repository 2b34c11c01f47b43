// SPDX-License-Identifier: GPL-2.0-only
//! Rules of noop and of the three forms of deadline.

mod common;

use common::reference::Deadline;
use common::reference::mq::MqDeadline;
use common::{elevator, ids, ms, serve_all};
use elevators::{Class, Elevator, Priority, Request};
use proptest::prelude::*;

const MM2: &[&str] = &["variant=2.5.63-mm2"];

fn add_reads(elevator: &mut dyn Elevator, firsts: &[u64], now: u64) {
    for first in firsts {
        elevator.add(Request::read(*first, 1, *first, 8), now);
    }
}

fn add_writes(elevator: &mut dyn Elevator, firsts: &[u64], now: u64) {
    for first in firsts {
        elevator.add(Request::write(*first, 2, *first, 8), now);
    }
}

#[test]
fn noop_serves_in_order_of_arrival() {
    let mut noop = elevator("noop", &[]);
    add_reads(&mut *noop, &[500, 100, 300], 0);
    add_writes(&mut *noop, &[50], 0);
    assert_eq!(ids(&serve_all(&mut *noop, 0, 1)), [500, 100, 300, 50]);
}

#[test]
fn a_batch_goes_on_in_order_of_sectors_and_wraps_to_the_lowest() {
    let mut deadline = elevator("deadline", MM2);
    add_reads(&mut *deadline, &[500, 100, 300], 0);
    assert_eq!(deadline.next(0).unwrap().id, 100);
    add_reads(&mut *deadline, &[50], 0);
    assert_eq!(ids(&serve_all(&mut *deadline, 0, 1)), [300, 500, 50]);
}

#[test]
fn an_expired_read_is_served_when_the_batch_ends() {
    let mut deadline = elevator("deadline", MM2);
    add_reads(&mut *deadline, &[9000], 0);
    let contiguous: Vec<u64> = (0..20).map(|index| index * 8).collect();
    add_reads(&mut *deadline, &contiguous, ms(1));
    let served = ids(&serve_all(&mut *deadline, ms(499), 0));
    assert_eq!(
        served.iter().position(|id| *id == 9000),
        Some(20),
        "not expired: in order of sectors"
    );

    let mut deadline = elevator("deadline", MM2);
    add_reads(&mut *deadline, &contiguous, 0);
    assert_eq!(deadline.next(0).unwrap().id, 0);
    add_reads(&mut *deadline, &[9000], 0);
    add_reads(&mut *deadline, &[8000], 0);
    let served = ids(&serve_all(&mut *deadline, ms(500), 0));
    // 15 more of the batch; then everything has expired and goes in order of arrival.
    assert_eq!(served[14], 15 * 8);
    assert_eq!(served[15], 16 * 8);
    assert_eq!(&served[served.len() - 2..], [9000, 8000]);
}

#[test]
fn writes_starve_twice_and_no_more() {
    let mut deadline = elevator("deadline", MM2);
    // Gaps everywhere: every batch is one request.
    add_reads(&mut *deadline, &[100, 200, 300, 400, 500, 600], 0);
    add_writes(&mut *deadline, &[1000, 2000, 3000], 0);
    assert_eq!(
        ids(&serve_all(&mut *deadline, 0, 1)),
        [100, 200, 1000, 300, 400, 2000, 500, 600, 3000]
    );
}

#[test]
fn writes_starved_may_be_changed() {
    let mut deadline = elevator("deadline", &["writes_starved=0"]);
    add_reads(&mut *deadline, &[100], 0);
    add_writes(&mut *deadline, &[1000, 2000], 0);
    assert_eq!(ids(&serve_all(&mut *deadline, 0, 1)), [1000, 2000, 100]);
}

#[test]
fn a_gap_ends_a_batch_only_with_the_fix() {
    let order = |variant: &str| {
        let mut deadline = elevator("deadline", &[variant, "fifo_batch=3", "writes_starved=1"]);
        add_reads(&mut *deadline, &[100, 200, 300, 400, 500], 0);
        add_writes(&mut *deadline, &[1000], 0);
        ids(&serve_all(&mut *deadline, 0, 1)).iter().position(|id| *id == 1000)
    };
    assert_eq!(order("variant=2.5.63-mm2"), Some(1));
    assert_eq!(order("variant=2.5.63"), Some(3));
    assert_eq!(order("variant=mq"), Some(3));
}

#[test]
fn fifo_batch_contiguous_requests_are_one_batch() {
    for size in [1, 4, 16] {
        let mut deadline = elevator(
            "deadline",
            &["variant=2.5.63-mm2", &format!("fifo_batch={size}"), "writes_starved=1"],
        );
        add_reads(&mut *deadline, &(0..40).map(|index| index * 8).collect::<Vec<_>>(), 0);
        add_writes(&mut *deadline, &[5000], 0);
        let served = ids(&serve_all(&mut *deadline, 0, 1));
        assert_eq!(served.iter().position(|id| *id == 5000), Some(size), "fifo_batch={size}");
    }
}

#[test]
fn the_older_of_two_at_one_sector_is_dispatched_at_once() {
    let mut deadline = elevator("deadline", MM2);
    add_reads(&mut *deadline, &[100], 0);
    deadline.add(Request::read(1, 1, 700, 8), 0);
    deadline.add(Request::read(2, 1, 700, 8), 0);
    assert_eq!(ids(&serve_all(&mut *deadline, 0, 1)), [1, 100, 2]);
}

#[test]
fn mq_starts_a_batch_at_the_oldest_instead_of_the_lowest() {
    let order = |variant: &str| {
        let mut deadline = elevator("deadline", &[variant]);
        add_reads(&mut *deadline, &[500, 100, 700], 0);
        ids(&serve_all(&mut *deadline, 0, 1))
    };
    assert_eq!(order("variant=mq"), [500, 700, 100]);
    assert_eq!(order("variant=2.5.63-mm2"), [100, 500, 700]);
}

#[test]
fn mq_serves_better_classes_first_until_the_others_have_aged() {
    let mut deadline = elevator("deadline", &["variant=mq"]);
    let of = |id, class| Request {
        priority: Priority { class, level: 4 },
        ..Request::read(id, id, id * 100, 8)
    };
    deadline.add(of(1, Class::Idle), 0);
    deadline.add(of(2, Class::BestEffort), 0);
    deadline.add(of(3, Class::RealTime), 0);
    assert_eq!(deadline.next(0).unwrap().id, 3);
    assert!(deadline.next(0).is_none(), "the better class still has one in flight");
    deadline.add(of(4, Class::RealTime), ms(1));
    assert_eq!(deadline.next(ms(10_000)).unwrap().id, 2, "waited for prio_aging_expire_ms");
}

/// Steps: an addition (true) with a direction, or a choice (false), and how much later it is.
fn steps() -> impl Strategy<Value = Vec<(bool, bool, u64)>> {
    prop::collection::vec((any::<bool>(), any::<bool>(), 0..200u64), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn deadline_is_its_reference(steps in steps(), sectors in Just((0..300u64).collect::<Vec<_>>()).prop_shuffle(), fix: bool) {
        let mut deadline = elevator("deadline", &[if fix { "variant=2.5.63-mm2" } else { "variant=2.5.63" }]);
        let mut reference = Deadline::new(fix);
        let mut now = 0;
        for (id, (adds, reads, passed_ms)) in steps.into_iter().enumerate() {
            now += ms(passed_ms);
            if adds {
                let make = if reads { Request::read } else { Request::write };
                let request = make(id as u64, 1, sectors[id] * 8, 8);
                deadline.add(request, now);
                reference.add(request, now);
            } else {
                prop_assert_eq!(deadline.next(now), reference.next(now));
            }
        }
        while deadline.queued() > 0 {
            prop_assert_eq!(deadline.next(now), reference.next(now));
        }
    }

    #[test]
    fn mq_deadline_is_its_reference(
        steps in prop::collection::vec((0..5u8, any::<bool>(), 0..3usize, 0..600u64), 1..300),
        sectors in Just((0..300u64).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut deadline = elevator("deadline", &["variant=mq"]);
        let mut reference = MqDeadline::default();
        let (mut now, mut in_flight) = (0, Vec::new());
        for (id, (what, reads, class, passed_ms)) in steps.into_iter().enumerate() {
            now += ms(passed_ms);
            if what < 3 {
                let make = if reads { Request::read } else { Request::write };
                let class = [Class::RealTime, Class::BestEffort, Class::Idle][class];
                let request = make(id as u64, 1, sectors[id] * 8, 8);
                let request = Request { priority: Priority { class, level: 4 }, ..request };
                deadline.add(request, now);
                reference.add(request, now);
            } else if what == 3 && !in_flight.is_empty() {
                let request = in_flight.remove(0);
                deadline.completed(&request, now);
                reference.completed(&request);
            } else {
                let chosen = deadline.next(now);
                prop_assert_eq!(chosen, reference.next(now));
                in_flight.extend(chosen);
            }
        }
    }

    #[test]
    fn noop_is_a_list(steps in prop::collection::vec((any::<bool>(), 0..100u64), 1..200)) {
        let (mut noop, mut list) = (elevator("noop", &[]), Vec::new());
        for (id, (adds, sector)) in steps.into_iter().enumerate() {
            if adds {
                list.push(Request::write(id as u64, 1, sector, 8));
                noop.add(list[list.len() - 1], 0);
            } else {
                let first = if list.is_empty() { None } else { Some(list.remove(0)) };
                prop_assert_eq!(noop.next(0), first);
            }
        }
    }
}
