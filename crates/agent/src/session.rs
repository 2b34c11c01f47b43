// SPDX-License-Identifier: GPL-2.0-only
//! Requests in, events out, one at a time.

use std::io::{self, BufRead, Write};

use anyhow::{Context, Result};

use crate::protocol::{Event, Request, Scheduler, VERSION};
use crate::scheduler::AttachError;
use crate::stop::Stop;
use crate::{cell, cgroup, disk, fingerprint, scheduler, scratch};

pub fn on_stdio() -> Result<()> {
    run(&mut io::stdin().lock(), &mut io::stdout().lock(), &Stop::new()?)
}

/// Serves requests until `bye`, the end of the input, or a stop signal.
pub fn run(requests: &mut dyn BufRead, events: &mut dyn Write, stop: &Stop) -> Result<()> {
    cgroup::sweep()?;
    disk::sweep()?;
    scratch::sweep()?;
    send(events, &hello())?;
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
            Request::Check { id, scheduler } => send(events, &check(id, &scheduler))?,
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

fn check(id: String, scheduler: &Scheduler) -> Event {
    match attach_and_detach(scheduler) {
        Ok((ops, object)) => Event::Checked { id, ops, object },
        Err(error) => {
            Event::Refused { id, reason: error.to_string(), detail: error.detail().to_owned() }
        }
    }
}

fn attach_and_detach(scheduler: &Scheduler) -> Result<(String, String), AttachError> {
    let attachment = scheduler::attach(scheduler)?;
    let seen = (attachment.ops_name().to_owned(), attachment.object_sha256().to_owned());
    attachment.detach()?;
    Ok(seen)
}

fn send(events: &mut dyn Write, event: &Event) -> Result<()> {
    let mut line = serde_json::to_string(event)?;
    line.push('\n');
    events
        .write_all(line.as_bytes())
        .and_then(|()| events.flush())
        .context("nobody reads the events")
}
