// SPDX-License-Identifier: GPL-2.0-only
//! The throughput of sequential readers on a disk of 2003 under each elevator, as in
//! docs/elevators.
//!
//! usage: cargo run --release -p disk-model --example readers [-- KEY=VALUE...]   parameters of the disk

#[path = "../tests/harness/mod.rs"]
mod harness;

use elevators::catalogue::VARIANTS;
use harness::{GB, Process, disk, elevator, rates_on, readers};

const SECONDS: u64 = 60;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let disk = disk("ide2003", &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    println!(
        "MB/s of all readers, 4 GB apart, by windows of 128 KiB under way; least and most of four readers"
    );
    for (name, pairs) in VARIANTS {
        let settings = elevator(name, pairs);
        print!("{:32}", format!("{name} {}", pairs.join(" ")));
        for windows in [1, 2] {
            let by_count = [1, 2, 4]
                .map(|count| rates_on(disk.clone(), &settings, &readers(count, windows), SECONDS));
            let four = by_count[2]
                .iter()
                .fold((f64::MAX, 0.0_f64), |(a, b), rate| (a.min(*rate), b.max(*rate)));
            let sums =
                by_count.map(|rates| format!("{:.1}", rates.iter().sum::<f64>())).join(" / ");
            print!("  {windows}: {sums} ({:.1} to {:.1})", four.0, four.1);
        }
        let beside =
            [Process::sequential("reader", 0), Process::writer("writer", 20 * GB, 100, 256, 256)];
        let [reader, writer] = rates_on(disk.clone(), &settings, &beside, SECONDS)[..] else {
            unreachable!("there are two")
        };
        println!("  beside a writer: {reader:.1} and {writer:.1}");
    }
}
