// SPDX-License-Identifier: GPL-2.0-only
//! Requests in, events out, one at a time.

use std::io::{self, BufRead, Write};

use anyhow::{Context, Result};

use crate::disk::{DiskError, SampleDisk};
use crate::protocol::{Arm, Event, Level, Request, VERSION};
use crate::scheduler::AttachError;
use crate::stop::Stop;
use crate::{cell, fingerprint, scheduler, sweep};

/// What a machine lacks, unless somebody knows better.
const MISSING: u8 = 69;

pub fn on_stdio() -> Result<()> {
    run(&mut io::stdin().lock(), &mut io::stdout().lock(), &Stop::new()?)
}

/// Serves requests until `bye`, the end of the input, or a stop signal.
pub fn run(requests: &mut dyn BufRead, events: &mut dyn Write, stop: &Stop) -> Result<()> {
    let failures = sweep::all(&mut |_| ())?;
    send(events, &hello())?;
    for failure in failures {
        // Whoever wants that disk is refused; others need not care.
        send(events, &Event::Log { level: Level::Warning, text: failure.to_string() })?;
    }
    let mut line = String::new();
    while !stop.requested() {
        line.clear();
        if requests.read_line(&mut line).context("cannot read a request")? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(&line)
            .with_context(|| format!("not a request: {}", line.trim_end()))?
        {
            Request::Sample(cell) => {
                let mut broken = None;
                let event = cell::take(&cell, stop, &mut |event| {
                    if let Err(error) = send(events, &event) {
                        broken = Some(error);
                    }
                });
                broken.map_or(Ok(()), Err)?;
                send(events, &event)?;
            }
            Request::Check(arm) => send(events, &check(&arm))?,
            Request::Bye => break,
        }
    }
    send(events, &Event::Bye)
}

fn hello() -> Event {
    Event::Hello {
        protocol: VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fingerprint: fingerprint::read(),
    }
}

fn check(arm: &Arm) -> Event {
    try_out(arm).unwrap_or_else(|error| {
        let of_scheduler = error.downcast_ref::<AttachError>();
        let of_disk = error.downcast_ref::<DiskError>().map(DiskError::exit_code);
        Event::Refused {
            id: arm.id.clone(),
            reason: format!("{error:#}"),
            detail: of_scheduler.map(|error| error.detail().to_owned()).unwrap_or_default(),
            exit_code: of_disk.unwrap_or(MISSING),
        }
    })
}

fn try_out(arm: &Arm) -> Result<Event> {
    let start = |disk| SampleDisk::start(disk, &arm.scratch, false);
    let disk = arm.disk.as_ref().map(start).transpose()?;
    let attachment = scheduler::attach(&arm.scheduler)?;
    let (ops, object) = (attachment.ops_name().to_owned(), attachment.object_sha256().to_owned());
    attachment.detach()?;
    let disks = disk.as_ref().map(SampleDisk::borrowed).unwrap_or_default();
    disk.map(|disk| disk.end(&mut |_| ())).transpose()?;
    Ok(Event::Checked { id: arm.id.clone(), ops, object, disks })
}

fn send(events: &mut dyn Write, event: &Event) -> Result<()> {
    let mut line = serde_json::to_string(event)?;
    line.push('\n');
    events
        .write_all(line.as_bytes())
        .and_then(|()| events.flush())
        .context("nobody reads the events")
}
