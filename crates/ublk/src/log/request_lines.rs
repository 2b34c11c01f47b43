// SPDX-License-Identifier: GPL-2.0-only
//! Writes the lines of a log of requests: docs/elevators/requests.md has the columns.

use std::fmt::Write;

use elevators::{Context, Direction, Id, Request};

use crate::identity::Origin;

pub const HEADER: &str = "what\tarrived_ns\tdispatched_ns\treached_ns\tdone_ns\tserved\tmerged\trwbs\tsector\tsectors\t\
                          served_sector\tserved_sectors\tfrom_cylinder\tcylinder\tdepth\tclass\tcpu\tpid\tcomm";

/// A request of the kernel.
pub struct Part {
    pub id: Id,
    pub arrived_ns: u64,
    pub first: u64,
    pub sectors: u64,
    pub rwbs: &'static str,
    pub origin: Origin,
    /// Index of the served request that it is part of.
    pub served: Option<usize>,
}

/// A request that the disk got, with all that were merged into it.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    pub id: Id,
    pub first: u64,
    pub sectors: u64,
    pub dispatched_ns: u64,
    /// When the head has reached the track and waits for the first sector.
    pub reached_ns: u64,
    pub done_ns: u64,
    pub from_cylinder: u64,
    pub cylinder: u64,
    /// How many requests waited, itself included.
    pub depth: usize,
}

/// The line of a request, with the one that it was served in and whether that is done.
pub fn of_request(part: &Part, served: Option<(&Served, bool)>) -> String {
    let Part { arrived_ns, first, sectors, rwbs, origin, .. } = part;
    let mut line = format!("request\t{arrived_ns}\t");
    let _ = match part.served.zip(served) {
        None => write!(line, "\t\t\t\t\t{rwbs}\t{first}\t{sectors}\t\t\t\t\t\t"),
        Some((index, (served, is_done))) => {
            let Served { dispatched_ns, reached_ns, from_cylinder, cylinder, depth, .. } = served;
            let done = if is_done { served.done_ns.to_string() } else { String::new() };
            let merged = u8::from(served.id != part.id);
            write!(
                line,
                "{dispatched_ns}\t{reached_ns}\t{done}\t{index}\t{merged}\t{rwbs}\t{first}\t{sectors}\t{}\t{}\t\
                 {from_cylinder}\t{cylinder}\t{depth}\t",
                served.first, served.sectors
            )
        }
    };
    let (class, cpu, task) = (class(origin.priority), origin.cpu, origin.task);
    let _ = write!(line, "{class}\t{cpu}\t{task}\t{}", name(&origin.comm));
    line
}

/// The line of a time in which the disk was held idle.
pub fn of_hold(from: u64, until: u64) -> String {
    format!("held\t{from}\t\t\t{until}{}", "\t".repeat(14))
}

/// The line of an exit of a process.
pub fn of_exit(at: u64, context: Context) -> String {
    format!("exit\t{at}{}{context}\t", "\t".repeat(16))
}

/// The line of a question that the elevator answered with no request.
pub fn of_question(at: u64) -> String {
    format!("asked\t{at}{}", "\t".repeat(17))
}

/// The kind of a request as in blktrace(8): R, W, WS for a write that a process waits for, F for a
/// flush.
pub fn rwbs(request: &Request) -> &'static str {
    match request.direction {
        _ if request.is_flush() => "F",
        Direction::Read => "R",
        Direction::Write if request.sync => "WS",
        Direction::Write => "W",
    }
}

/// The priority of ioprio_set(2), as ionice(1) abbreviates it; a process that never called it has
/// none.
fn class(priority: u16) -> String {
    let level = priority & 7;
    match priority >> 13 {
        1 => format!("rt{level}"),
        2 => format!("be{level}"),
        3 => "idle".into(),
        _ => "none".into(),
    }
}

/// The name of a task, which may be any bytes, for a line.
fn name(comm: &[u8; 16]) -> String {
    let plain =
        |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { *byte as char } else { '?' };
    comm.iter().take_while(|byte| **byte != 0).map(plain).collect()
}
