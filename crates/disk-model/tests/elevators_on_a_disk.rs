// SPDX-License-Identifier: GPL-2.0-only
//! The purpose of each elevator: the share of one disk that readers and writers get.

mod harness;

use elevators::{Direction, MS, Settings};
use harness::{GB, Process, World, disk, elevator, rates, readers};

fn together(elevator: &Settings, count: usize, windows: usize) -> f64 {
    rates(elevator, &readers(count, windows), 20).iter().sum()
}

#[test]
fn anticipation_keeps_80_percent_of_the_disk_for_two_readers() {
    for (name, variant) in [
        ("anticipatory", "variant=2003"),
        ("anticipatory", "variant=2.6"),
        ("cfq", "variant=sliced"),
    ] {
        for windows in [1, 2] {
            let settings = elevator(name, &[variant]);
            let (one, two) = (together(&settings, 1, windows), together(&settings, 2, windows));
            assert!(two >= 0.8 * one, "{name} {variant}: {one} {two}");
        }
    }
}

#[test]
fn without_anticipation_two_readers_lose_at_least_40_percent() {
    for (name, pairs) in [
        ("noop", &[][..]),
        ("deadline", &["variant=2.5.63"]),
        ("deadline", &["variant=2.5.63-mm2"]),
        ("deadline", &["variant=mq"]),
        ("cfq", &["variant=2003"]),
    ] {
        for windows in [1, 2] {
            let settings = elevator(name, pairs);
            let (one, two) = (together(&settings, 1, windows), together(&settings, 2, windows));
            assert!(two <= 0.6 * one, "{name} {pairs:?}: {one} {two}");
        }
    }
}

/// The rounds of 2003 can only be fair to processes that have requests waiting when a round begins.
#[test]
fn cfq_gives_readers_the_same_within_10_percent() {
    for (pairs, windows) in
        [(&["variant=2003"][..], 8), (&["variant=sliced"], 1), (&["variant=sliced"], 2)]
    {
        for count in [2, 3, 4] {
            let rates = rates(&elevator("cfq", pairs), &readers(count, windows), 60);
            let (least, most) =
                rates.iter().fold((f64::MAX, 0.0_f64), |(a, b), rate| (a.min(*rate), b.max(*rate)));
            assert!(most <= 1.1 * least, "{pairs:?}: {rates:?}");
        }
    }
}

#[test]
fn deadline_serves_two_batches_of_reads_and_one_of_writes_in_turn() {
    for variant in ["variant=2.5.63-mm2", "variant=mq"] {
        // Every request is far from every other: with fifo_batch 1 each is a batch in every variant.
        let settings = elevator("deadline", &[variant, "fifo_batch=1"]);
        let mut processes: Vec<Process> =
            (0..8).map(|index| Process::scattered("reader", index * GB, GB / 2, 100_000)).collect();
        processes.push(Process::writer("writer", 20 * GB, 16, 8, 1000));
        let mut world = World::new(&settings, disk("ide2003", &[]), &processes);
        world.run_until(4000 * MS);
        let pattern: Vec<Direction> =
            world.trace[1..].iter().map(|step| step.request.direction).collect();
        assert!(pattern.len() > 200, "{}", pattern.len());
        let first =
            pattern.iter().position(|direction| *direction == Direction::Write).unwrap() + 1;
        for triple in pattern[first..].chunks_exact(3) {
            assert_eq!(triple, [Direction::Read, Direction::Read, Direction::Write], "{variant}");
        }
    }
}

#[test]
fn a_reader_beside_a_writer_waits_least_under_anticipation() {
    let processes =
        [Process::sequential("reader", 0), Process::writer("writer", 20 * GB, 100, 256, 256)];
    let reader = |name, pairs: &[&str]| rates(&elevator(name, pairs), &processes, 20)[0];
    let (noop, deadline) = (reader("noop", &[]), reader("deadline", &[]));
    let (anticipatory, sliced) = (reader("anticipatory", &[]), reader("cfq", &[]));
    assert!(noop < deadline && deadline < anticipatory, "{noop} {deadline} {anticipatory}");
    assert!(deadline < sliced, "{deadline} {sliced}");
}

#[test]
fn the_same_processes_give_the_same_trace() {
    let trace = || {
        let mut world =
            World::new(&elevator("anticipatory", &[]), disk("ide2003", &[]), &readers(3, 2));
        world.run_until(2000 * MS);
        world.trace.iter().map(|step| (step.request.id, step.at, step.done)).collect::<Vec<_>>()
    };
    assert_eq!(trace(), trace());
}
