// SPDX-License-Identifier: GPL-2.0-only
//! Requests in, events out, one at a time.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use anyhow::{Context, Result, ensure};
use machine::cgroup::Purpose;
use machine::containment::Containment;
use machine::fingerprint;
use machine::instrument::Instrument;
use machine::root::Root;
use machine::stop::Stop;
use protocol::{Arm, Event, Level, Request, VERSION};
use schedulers::{AttachError, Ready};
use settings::{Applied, SettingError, WorkSettings};

use crate::controllers::Controllers;
use crate::disk::{self, SampleDisk};
use crate::requests::Requests;
use crate::take_over::TakenOver;
use crate::{cell, sweep};

/// Exit code for something that the machine lacks: the default of a failed check.
const MISSING: u8 = 69;

/// `known` is what an earlier agent of the same notebook told as its instrument: this one runs with the same. With
/// `takes_over` a service that has a scheduler in charge is stopped until the end.
///
/// # Errors
/// Standard input or output cannot be used, a line is not a request, or `known` is nothing that was told.
pub fn on_stdio(known: Option<&str>, takes_over: bool) -> Result<()> {
    // Stdin's own buffer would hide from poll(2) what it holds.
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let instrument = known.map(parse_instrument).transpose()?;
    let start = Start { instrument, takes_over, ..Start::now() };
    run(input, &mut io::stdout().lock(), start, &Stop::new()?)
}

fn parse_instrument(text: &str) -> Result<Instrument> {
    serde_json::from_str(text).context("not what an agent has told in its hello")
}

/// The state that a session begins with.
pub struct Start {
    fingerprint: serde_json::Value,
    /// What this agent is to run with; None for what it was started with.
    instrument: Option<Instrument>,
    /// Whether a service that has a scheduler in charge is stopped.
    takes_over: bool,
    /// A scheduler for the first request that wants it.
    pub ready: Option<Ready>,
}

impl Start {
    /// Looks at the machine.
    pub fn now() -> Self {
        Self { fingerprint: fingerprint::read(), instrument: None, takes_over: false, ready: None }
    }
}

/// Serves requests until `bye`, the end of the input, or a stop signal, which is also heard between two requests.
///
/// # Errors
/// The machine cannot be inspected, a line is not a request, or nobody reads the events.
pub fn run(
    input: impl Read + AsFd,
    events: &mut dyn Write,
    start: Start,
    stop: &Stop,
) -> Result<()> {
    let stays = sweep::all(Some(stop), &mut |_| ())?;
    let Start { fingerprint, instrument, takes_over, mut ready } = start;
    let changes = instrument.as_ref().map(Instrument::mend).transpose()?.unwrap_or_default();
    let instrument = instrument.map_or_else(Instrument::now, Ok);
    let instrument = instrument.context("cannot see what this runs with")?;
    ensure!(instrument.is_intact(), "what this runs with was changed, and cannot be put right");
    // Before the first word, which tells that this agent can work here.
    let taken = if takes_over { TakenOver::start(&Root::machine(), stop)? } else { None };
    send(events, &hello(fingerprint, &instrument)?)?;
    if !changes.is_empty() {
        let told: Vec<_> = changes.iter().map(ToString::to_string).collect();
        let text = format!(
            "what runs runoff was changed while the campaign ran, and the new agent has put it right for itself: {}",
            told.join("; ")
        );
        send(events, &Event::Log { level: Level::Warning, text })?;
    }
    for text in stays {
        // A request for that disk is refused; others are not affected.
        send(events, &Event::Log { level: Level::Warning, text })?;
    }
    if let Some(taken) = &taken {
        let text = format!("{}, and was stopped for the campaign", taken.what());
        send(events, &Event::Log { level: Level::Warning, text })?;
    }
    let mut requests = Requests::new(input);
    while let Some(line) = requests.next(stop)? {
        let request = serde_json::from_str(&line);
        match request.with_context(|| format!("not a request: {}", beginning(&line)))? {
            Request::Sample(cell) => {
                let mut broken = None;
                let event = cell::take(&cell, ready.take(), &instrument, stop, &mut |event| {
                    if let Err(error) = send(events, &event) {
                        broken = Some(error);
                    }
                });
                broken.map_or(Ok(()), Err)?;
                send(events, &event)?;
                // For example, root may not raise a limit again. A new agent begins as this one
                // did.
                ensure!(
                    instrument.is_intact(),
                    "this agent is not as it was, and cannot be put right"
                );
            }
            Request::Check(arm) => send(events, &check(&arm, ready.take(), stop))?,
            Request::Bye => break,
        }
    }
    taken.map_or(Ok(()), TakenOver::end)?;
    send(events, &Event::Bye)
}

fn beginning(line: &str) -> String {
    const MOST: usize = 200;
    line.chars().take(MOST).collect()
}

fn hello(fingerprint: serde_json::Value, instrument: &Instrument) -> Result<Event> {
    Ok(Event::Hello {
        protocol: VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        fingerprint,
        instrument: serde_json::to_value(instrument)?,
    })
}

fn check(arm: &Arm, ready: Option<Ready>, stop: &Stop) -> Event {
    try_out(arm, ready, stop).unwrap_or_else(|error| {
        let of_scheduler = error.downcast_ref::<AttachError>();
        let of_setting = error.downcast_ref().map(SettingError::exit_code);
        Event::Refused {
            id: arm.id.clone(),
            reason: format!("{error:#}"),
            detail: of_scheduler.map(|error| error.detail().to_owned()).unwrap_or_default(),
            exit_code: of_setting.or_else(|| disk::exit_code(&error)).unwrap_or(MISSING),
        }
    })
}

fn try_out(arm: &Arm, ready: Option<Ready>, stop: &Stop) -> Result<Event> {
    let applied = Applied::start(&Root::machine(), &arm.settings, stop)?;
    let works: Vec<_> =
        arm.works.iter().map(|each| WorkSettings::parse(each)).collect::<Result<_, _>>()?;
    try_works(&works)?;
    let start = |disk| SampleDisk::start(disk, None, &arm.scratch, false, stop);
    let disk = arm.disk.as_ref().map(start).transpose()?;
    let attachment = schedulers::attach(&arm.scheduler, ready, stop)?;
    let (ops, object) = (attachment.ops_name().to_owned(), attachment.object_sha256().to_owned());
    attachment.detach()?;
    let disks = disk.as_ref().map(SampleDisk::borrowed).unwrap_or_default();
    disk.map(|disk| disk.end(&mut |_| ())).transpose()?;
    let mut settings = applied.seen();
    settings.extend(works.first().into_iter().flat_map(|own| own.seen("workload")));
    applied.end()?;
    Ok(Event::Checked { id: arm.id.clone(), ops, object, disks, settings })
}

/// Makes a control group for each work, limited as it will be.
fn try_works(works: &[WorkSettings]) -> Result<()> {
    let _controllers = Controllers::require(works.iter().flat_map(WorkSettings::controllers))?;
    for (index, work) in works.iter().enumerate() {
        if work.controllers().next().is_some() {
            let containment = Containment::create(&Root::machine(), Purpose::Rehearsal)?;
            let limited = work.limit(containment.cgroup());
            limited.context(if index == 0 { "its work" } else { "a load beside it" })?;
            containment.end()?;
        }
    }
    Ok(())
}

fn send(events: &mut dyn Write, event: &Event) -> Result<()> {
    let mut line = serde_json::to_string(event)?;
    line.push('\n');
    events
        .write_all(line.as_bytes())
        .and_then(|()| events.flush())
        .context("nobody reads the events")
}
