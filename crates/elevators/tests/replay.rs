// SPDX-License-Identifier: GPL-2.0-only
//! Replays a log of requests. That rests on two properties of an elevator: neither the zero of time
//! nor extra questions change its answers.

mod common;

use common::{Random, ms, settings};
use elevators::catalogue::VARIANTS;
use elevators::replay::{Log, LogError};
use elevators::{Class, Priority, Queue, Request, WaitQueue};

const HEADER: &str =
    "what\tarrived_ns\tdispatched_ns\tdone_ns\tserved\tmerged\trwbs\tsector\tsectors\tclass\tpid\n";

/// The elevator waits for process 1 after its first read, until it exits; meanwhile process 2 has a
/// request far away.
const ENDS: &str = "request\t-5\t0\t2000000\t0\t0\tR\t0\t8\tbe4\t1\n\
                    request\t1000000\t3000000\t5000000\t1\t0\tR\t90000\t8\tnone\t2\n\
                    held\t2000000\t\t3000000\t\t\t\t\t\t\t\n\
                    exit\t3000000\t\t\t\t\t\t\t\t\t1\n\
                    asked\t2000000\t\t\t\t\t\t\t\t\t\n";

fn order(log: &Log, name: &str, pairs: &[&str]) -> Vec<u64> {
    log.replay(&settings(name, pairs)).iter().map(|request| request.first).collect()
}

#[test]
fn an_exit_in_the_log_ends_the_wait_in_the_replay() {
    let log = Log::parse(&format!("# device=259,2 dropped=0\n{HEADER}{ENDS}")).unwrap();
    assert!(log.is_whole);
    for (name, pairs) in VARIANTS {
        assert_eq!(order(&log, name, pairs), [0, 90_000], "{name} {pairs:?}");
    }
    let without = ENDS
        .lines()
        .filter(|line| !line.starts_with("exit"))
        .fold(HEADER.to_owned(), |all, line| all + line + "\n");
    let log = Log::parse(&without).unwrap();
    assert_eq!(order(&log, "anticipatory", &[]), [0], "it still waits for process 1");
    assert_eq!(order(&log, "deadline", &[]), [0, 90_000]);
}

#[test]
fn a_log_that_lacks_something_says_so_and_is_replayed_as_well_as_it_can_be() {
    let older: String = ENDS
        .lines()
        .filter(|line| line.starts_with("request") || line.starts_with("held"))
        .map(|line| line.to_owned() + "\n")
        .collect();
    let older = Log::parse(&format!("# device=259,2 dropped=0\n{HEADER}{older}")).unwrap();
    assert!(!older.is_whole);
    assert_eq!(order(&older, "noop", &[]), [0, 90_000]);
    assert_eq!(order(&older, "anticipatory", &[]), [0]);
    let cut = Log::parse(&format!("# device=259,2 dropped=3\n{HEADER}{ENDS}")).unwrap();
    assert!(!cut.is_whole);
}

#[test]
fn text_that_is_not_a_log_is_refused() {
    assert_eq!(Log::parse("no\nlog\n").err(), Some(LogError::NoHeader));
    for (from, to, column) in [
        ("\tR\t0", "\tD\t0", "rwbs"),
        ("be4", "be", "class"),
        ("none", "some", "class"),
        ("90000\t8", "90000\t-8", "sectors"),
        ("\t-5\t", "\t\t", "arrived_ns"),
        ("be4\t1", "be4", "pid"),
    ] {
        let damaged = Log::parse(&format!("{HEADER}{}", ENDS.replacen(from, to, 1))).err();
        assert!(
            matches!(&damaged, Some(LogError::Damaged { column: found, .. }) if *found == column),
            "{column}: {damaged:?}"
        );
    }
}

#[test]
fn a_number_that_no_kernel_has_is_refused() {
    let refusal = |from: &str, to: &str| {
        let text = format!("{HEADER}{}", ENDS.replacen(from, to, 1));
        Log::parse(&text).err().map(|error| error.to_string()).unwrap_or_default()
    };
    for level in [8, 200, 256] {
        let sentence = refusal("be4", &format!("be{level}"));
        assert!(
            sentence.starts_with(&format!("the log has a priority of level {level} in the line")),
            "{sentence}"
        );
        assert!(sentence.ends_with(": levels are 0 to 7"), "{sentence}");
    }
    assert!(refusal("be4", "be-1").contains("no usable class"));
    let (last, beyond) = (format!("{}\t8", (1u64 << 48) - 8), format!("{}\t8", (1u64 << 48) - 7));
    assert_eq!(refusal("90000\t8", &last), "");
    for far in [beyond, format!("{}\t8", u64::MAX)] {
        assert!(refusal("90000\t8", &far).contains("beyond sector 281474976710656"), "{far}");
    }
    assert!(refusal("\t-5\t", &format!("\t{}\t", i64::MIN)).contains("no usable arrived_ns"));
    assert!(
        refusal("\t3000000\t5", &format!("\t{}\t5", i64::MAX)).contains("no usable dispatched_ns")
    );
}

/// The requests that 20,000 random steps dispatch, and when, with all times later by `shift`.
/// Between any two steps the elevator is asked `again` more times.
fn outcome(name: &str, pairs: &[&str], shift: u64, again: u64) -> Vec<(u64, u64)> {
    let mut queue = WaitQueue::new(Queue::new(&settings(name, pairs)));
    let (mut random, mut given) = (Random::new(3), Vec::new());
    let (mut now, mut under_way) = (shift, None);
    for id in 0..20_000 {
        let context = random.below(6);
        let first = random.below(4000) * 16;
        match random.below(12) {
            0..4 => queue.add(prioritised(Request::read(id, context, first, 8)), now),
            4..6 => queue.add(prioritised(Request::write(id, context, first, 8)), now),
            6 if random.below(100) == 0 => queue.add(Request::flush(id, context), now),
            7 => queue.process_exited(context, now),
            _ => {}
        }
        if under_way.is_none() {
            under_way = queue.next(now).map(|request| request.id);
            given.extend(under_way.map(|id| (id, now - shift)));
        }
        let until = now + random.below(ms(6));
        let timer = queue.next_timer().filter(|_| under_way.is_none());
        let quiet = timer.map_or(until, |timer| timer.min(until)).saturating_sub(now);
        if under_way.is_none() {
            for each in 0..again {
                assert_eq!(queue.next(now + quiet * each / again), None);
            }
        }
        now = until;
        if let Some(id) = under_way.filter(|_| random.below(2) == 0) {
            queue.completed(id, now);
            under_way = None;
        }
    }
    given
}

/// Some processes have a class of their own.
fn prioritised(request: Request) -> Request {
    let class = match request.context {
        0 => Class::RealTime,
        1 => Class::Idle,
        _ => return request,
    };
    Request { priority: Priority { class, level: 3 }, ..request }
}

#[test]
fn the_zero_of_time_has_no_meaning() {
    for (name, pairs) in VARIANTS {
        let usual = outcome(name, pairs, 1, 0);
        assert!(usual.len() > 3000, "{name} {pairs:?}: {}", usual.len());
        assert_eq!(usual, outcome(name, pairs, ms(3_600_000), 0), "{name} {pairs:?}");
    }
}

#[test]
fn asking_before_anything_happens_changes_nothing() {
    for (name, pairs) in VARIANTS {
        assert_eq!(outcome(name, pairs, 1, 0), outcome(name, pairs, 1, 3), "{name} {pairs:?}");
    }
}
