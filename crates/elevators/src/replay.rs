// SPDX-License-Identifier: GPL-2.0-only
//! Replays a log of requests (docs/elevators/requests.md) to an elevator.

use std::collections::HashMap;

use thiserror::Error;

use crate::queue::Queue;
use crate::request::{Class, Context, Id, MOST_SECTORS, Priority, Request};
use crate::time::LATEST_NS;
use crate::wait_queue::WaitQueue;
use parameters::Settings;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LogError {
    #[error("this is not a log of requests: no line begins with \"what\"")]
    NoHeader,
    #[error("the log has no usable {column} in the line {line:?}")]
    Damaged { column: &'static str, line: String },
    #[error("the log has a priority of level {level} in the line {line:?}: levels are 0 to 7")]
    Level { level: u64, line: String },
    #[error("the log has a request beyond sector {MOST_SECTORS} in the line {line:?}")]
    TooFar { line: String },
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Arrives(Request),
    Exits(Context),
    /// The disk was free and asked for a request.
    Asked,
}

/// Order of events with the same time: input of the elevator, a request from it, no request from
/// it.
const TOLD: u8 = 0;
const GAVE: u8 = 1;
const NOTHING: u8 = 2;

/// The calls of an elevator in order of time.
pub struct Log {
    events: Vec<(u64, Event)>,
    /// Whether the log has every call. Older logs do not, nor do logs that lack requests.
    pub is_whole: bool,
}

impl Log {
    /// # Errors
    /// The text has no header, or a line lacks a field or has a bad one.
    pub fn parse(text: &str) -> Result<Self, LogError> {
        let mut lines = text.lines();
        let is_header = |line: &&str| line.starts_with("what\t");
        let before = lines.by_ref().take_while(|line| !is_header(line)).collect::<String>();
        let header = text.lines().find(is_header).ok_or(LogError::NoHeader)?;
        let columns = header.split('\t').zip(0..).collect();
        let mut rows = Rows {
            columns,
            found: Vec::new(),
            given: Vec::new(),
            asked: Vec::new(),
            held: Vec::new(),
        };
        lines.try_for_each(|line| rows.read(line))?;
        let is_whole = !rows.asked.is_empty()
            && (!before.contains("dropped=") || before.contains("dropped=0"));
        Ok(Self { events: rows.in_order(), is_whole })
    }

    /// Makes the same calls to an elevator with `settings`; returns the requests that it
    /// dispatches.
    pub fn replay(&self, settings: &Settings) -> Vec<Request> {
        let mut queue = WaitQueue::new(Queue::new(settings));
        let mut given: Vec<Request> = Vec::new();
        let mut under_way: Option<Id> = None;
        for (at, event) in &self.events {
            match event {
                Event::Arrives(request) => queue.add(*request, *at),
                Event::Exits(context) => queue.process_exited(*context, *at),
                Event::Asked => {
                    // The disk is free: first tell the elevator what has been served.
                    if let Some(id) = under_way.take() {
                        queue.completed(id, *at);
                    }
                    let next = queue.next(*at);
                    under_way = next.map(|request| request.id);
                    given.extend(next);
                }
            }
        }
        given
    }
}

struct Rows<'a> {
    columns: HashMap<&'a str, usize>,
    found: Vec<(i64, u8, Event)>,
    /// Requests that the disk got: number and time.
    given: Vec<(i64, i64)>,
    /// Times at which the elevator returned nothing; `held` has those with requests waiting.
    asked: Vec<i64>,
    held: Vec<i64>,
}

impl<'a> Rows<'a> {
    fn read(&mut self, line: &'a str) -> Result<(), LogError> {
        let row = Row { columns: &self.columns, line, cells: line.split('\t').collect() };
        let at = row.time("arrived_ns")?;
        match row.text("what")? {
            "request" => {
                let request = row.request(self.found.len() as Id)?;
                self.found.push((at, TOLD, Event::Arrives(request)));
                if row.text("merged")? == "0" {
                    self.given.push((row.number("served")?, row.time("dispatched_ns")?));
                }
            }
            "exit" => self.found.push((at, TOLD, Event::Exits(row.positive("pid")?))),
            "asked" => self.asked.push(at),
            "held" => self.held.push(at),
            _ => {}
        }
        Ok(())
    }

    /// All events in order of time, shifted so that they begin at 1; the zero of time has no
    /// meaning for an elevator.
    fn in_order(mut self) -> Vec<(u64, Event)> {
        self.given.sort_unstable();
        // An older log has only some of them.
        let nothing = if self.asked.is_empty() { self.held } else { self.asked };
        self.found.extend(self.given.iter().map(|(_, at)| (*at, GAVE, Event::Asked)));
        self.found.extend(nothing.iter().map(|at| (*at, NOTHING, Event::Asked)));
        self.found.sort_by_key(|(at, kind, _)| (*at, *kind));
        let first = self.found.first().map_or(0, |(at, ..)| *at);
        let since = |at: i64| (at - first).unsigned_abs() + 1;
        self.found.into_iter().map(|(at, _, event)| (since(at), event)).collect()
    }
}

struct Row<'a> {
    columns: &'a HashMap<&'a str, usize>,
    line: &'a str,
    cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn text(&self, column: &'static str) -> Result<&'a str, LogError> {
        let found = self.columns.get(column).and_then(|index| self.cells.get(*index));
        found.copied().ok_or_else(|| self.damaged(column))
    }

    fn number(&self, column: &'static str) -> Result<i64, LogError> {
        self.text(column)?.parse().map_err(|_| self.damaged(column))
    }

    /// A time in nanoseconds, which may be negative.
    fn time(&self, column: &'static str) -> Result<i64, LogError> {
        let time = self.number(column)?;
        if time.unsigned_abs() < LATEST_NS / 2 { Ok(time) } else { Err(self.damaged(column)) }
    }

    fn positive(&self, column: &'static str) -> Result<u64, LogError> {
        self.text(column)?.parse().map_err(|_| self.damaged(column))
    }

    fn damaged(&self, column: &'static str) -> LogError {
        LogError::Damaged { column, line: self.line.into() }
    }

    fn request(&self, id: Id) -> Result<Request, LogError> {
        let [first, sectors, pid] = ["sector", "sectors", "pid"].map(|name| self.positive(name));
        let (first, sectors, pid) = (first?, sectors?, pid?);
        if first.checked_add(sectors).is_none_or(|end| end > MOST_SECTORS) {
            return Err(LogError::TooFar { line: self.line.into() });
        }
        let request = match self.text("rwbs")? {
            "R" => Request::read(id, pid, first, sectors),
            "F" => Request::flush(id, pid),
            "W" => Request::write(id, pid, first, sectors),
            "WS" => Request { sync: true, ..Request::write(id, pid, first, sectors) },
            _ => return Err(self.damaged("rwbs")),
        };
        Ok(Request { priority: self.priority()?, ..request })
    }

    /// A priority as ionice(1) abbreviates it; the idle class has one level.
    fn priority(&self) -> Result<Priority, LogError> {
        let text = self.text("class")?;
        let class = match text.get(..2) {
            Some("rt") => Class::RealTime,
            Some("be") => Class::BestEffort,
            _ if text == "idle" => return Ok(Priority { class: Class::Idle, level: 7 }),
            _ if text == "none" => return Ok(Priority::default()),
            _ => return Err(self.damaged("class")),
        };
        let level = text[2..].parse().map_err(|_| self.damaged("class"))?;
        match u8::try_from(level) {
            Ok(level @ 0..8) => Ok(Priority { class, level }),
            _ => Err(LogError::Level { level, line: self.line.into() }),
        }
    }
}
