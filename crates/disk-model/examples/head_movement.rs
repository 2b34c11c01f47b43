// SPDX-License-Identifier: GPL-2.0-only
//! Where the head of a disk of 2003 is under an elevator with two readers and a writer, as CSV.
//!
//! usage: cargo run --release -p disk-model --example head_movement -- NAME [KEY=VALUE...]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "contexts and counts are small"
)]

#[path = "../tests/harness/mod.rs"]
mod harness;

use std::process::ExitCode;

use elevators::{MS, Settings, catalogue};
use harness::{GB, Process, World, disk};

/// Time before the part that is shown, so that the elevator knows the processes.
const SETTLE_MS: u64 = 2000;
const SHOWN_MS: u64 = 400;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, pairs)) = arguments.split_first() else {
        eprintln!("usage: head_movement NAME [KEY=VALUE...]");
        return ExitCode::from(64);
    };
    let Some(description) = catalogue::find(name) else {
        eprintln!("there is no elevator {name:?}");
        return ExitCode::from(64);
    };
    match Settings::parse(description, pairs.iter().map(String::as_str)) {
        Ok(settings) => print(&settings),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(64);
        }
    }
    ExitCode::SUCCESS
}

fn print(settings: &Settings) {
    // Every write is far from the last one, as with many small files.
    let processes = [
        Process::sequential("reader 1", 6 * GB),
        Process::sequential("reader 2", 30 * GB),
        Process::writer("writer", 16 * GB, 64, 64, 40_000),
    ];
    let mut world = World::new(settings, disk("ide2003", &[]), &processes);
    world.run_until((SETTLE_MS + SHOWN_MS) * MS);
    println!("process,kb,at_ms,reached_ms,done_ms,from_cylinder,cylinder");
    let ms = |ns: u64| ns.saturating_sub(SETTLE_MS * MS) as f64 / MS as f64;
    for step in world.trace.iter().filter(|step| step.done > SETTLE_MS * MS) {
        let process = processes[step.request.context as usize].name;
        let kb = step.request.sectors / 2;
        let [at, reached, done] = [step.at, step.reached, step.done].map(ms);
        println!(
            "{process},{kb},{at:.3},{reached:.3},{done:.3},{},{}",
            step.from_cylinder, step.cylinder
        );
    }
}
