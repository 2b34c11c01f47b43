// SPDX-License-Identifier: GPL-2.0-only
//! The order in which an elevator gives out the requests of a log (docs/elevators/requests.md), asked whenever the
//! disk of the log was given one.
//!
//! usage: cargo run --release -p elevators --example replay -- ELEVATOR [KEY=VALUE...] <LOG
//!
//! Prints the first sector and the number of sectors of each. Processes that end are not in a log, so elevators that
//! wait for somebody may go on later than they did.

use std::collections::HashMap;
use std::io::{BufRead, stdin};

use elevators::{Queue, Request, Settings, catalogue};

/// One request of the log; times in ns.
struct Row {
    arrived: i64,
    rwbs: String,
    first: u64,
    sectors: u64,
    pid: u64,
}

/// What the disk was given at once.
struct Given {
    at: i64,
    done: Option<i64>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, pairs @ ..] = &arguments[..] else {
        panic!("usage: replay ELEVATOR [KEY=VALUE...]")
    };
    let description = catalogue::find(name).expect("no such elevator");
    let settings =
        Settings::parse(description, pairs.iter().map(String::as_str)).expect("its parameters");
    let (rows, given) = read();
    let start = rows.iter().map(|row| row.arrived).min().unwrap_or(0);
    let mut queue = Queue::new(&settings);
    let mut coming = rows.iter().enumerate().peekable();
    let mut under_way = None;
    for Given { at, done } in given {
        let since_start = |time: i64| (time - start).unsigned_abs();
        let completes = |queue: &mut Queue, until: i64, under_way: &mut Option<(u64, i64)>| {
            if let Some((id, done)) = under_way.take_if(|(_, done)| *done <= until) {
                queue.completed(id, since_start(done));
            }
        };
        while let Some((id, row)) = coming.next_if(|(_, row)| row.arrived <= at) {
            completes(&mut queue, row.arrived, &mut under_way);
            queue.add(request(id as u64, row), since_start(row.arrived));
        }
        completes(&mut queue, at, &mut under_way);
        let Some(next) = queue.next(since_start(at)) else { continue };
        println!("{} {}", next.first, next.sectors);
        under_way = done.map(|done| (next.id, done));
    }
}

fn request(id: u64, row: &Row) -> Request {
    match row.rwbs.as_str() {
        "R" => Request::read(id, row.pid, row.first, row.sectors),
        "F" => Request::flush(id, row.pid),
        rwbs => {
            Request { sync: rwbs == "WS", ..Request::write(id, row.pid, row.first, row.sectors) }
        }
    }
}

/// Requests in order of arrival, and what the disk was given in order of dispatch.
fn read() -> (Vec<Row>, Vec<Given>) {
    let lines = stdin().lock().lines().map(|line| line.expect("the log is text"));
    let mut lines = lines.filter(|line| !line.starts_with('#'));
    let header = lines.next().expect("the log has a header");
    let places: HashMap<&str, usize> = header.split('\t').zip(0..).collect();
    let (mut rows, mut given) = (Vec::new(), Vec::new());
    for line in &lines.collect::<Vec<_>>() {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name: &str| cells[places[name]];
        let number =
            |name: &str| cell(name).parse().unwrap_or_else(|_| panic!("{name} of {line:?}"));
        if cell("what") != "request" {
            continue;
        }
        rows.push(Row {
            arrived: number("arrived_ns"),
            rwbs: cell("rwbs").into(),
            first: number("sector").unsigned_abs(),
            sectors: number("sectors").unsigned_abs(),
            pid: number("pid").unsigned_abs(),
        });
        if cell("merged") == "0" {
            given.push(Given { at: number("dispatched_ns"), done: cell("done_ns").parse().ok() });
        }
    }
    given.sort_by_key(|each| each.at);
    (rows, given)
}
