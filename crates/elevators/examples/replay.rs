// SPDX-License-Identifier: GPL-2.0-only
//! Replays a log (docs/elevators/requests.md) to an elevator and prints the order in which it
//! dispatches the requests.
//!
//! usage: cargo run --release -p elevators --example replay -- ELEVATOR [KEY=VALUE...] <LOG
//!
//! Prints the first sector and the number of sectors of each request.

use std::io::{read_to_string, stdin};

use elevators::replay::Log;
use elevators::{Settings, catalogue};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, pairs @ ..] = &arguments[..] else {
        panic!("usage: replay ELEVATOR [KEY=VALUE...]")
    };
    let description = catalogue::find(name).expect("no such elevator");
    let settings =
        Settings::parse(description, pairs.iter().map(String::as_str)).expect("its parameters");
    let text = read_to_string(stdin()).expect("the log is text");
    let log = Log::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    if !log.is_whole {
        eprintln!(
            "replay: the log lacks something that its elevator was told: this may be another order"
        );
    }
    for request in log.replay(&settings) {
        println!("{} {}", request.first, request.sectors);
    }
}
