// SPDX-License-Identifier: GPL-2.0-only
//! One sample: prepare, attach, prove, run, prove again, detach, judge.

mod capture;
mod measured;
pub mod numbers;
mod refusal;
mod units;

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use machine::command::Surroundings;
use machine::flush::{self, Swap};
use machine::instrument::Instrument;
use machine::mounts;
use machine::residue::Residue;
use machine::root::Root;
use machine::scratch::Scratch;
use machine::stop::Stop;
use machine::view::{Seen, View};
use protocol::{Cell, Event, Level, Load, Phase, Probe, Proof, Sample, Void, Workload};
use schedulers::Loaded;
use schedulers::proof::{self, Witness};
use ublk::Metrics;

use self::refusal::Refusal;
use crate::booted::is_booted_for_us;
use crate::disk::{SampleDisk, place};

/// Takes one sample; whatever goes wrong makes it void with the reason. `loaded` may be its scheduler. `tell` gets the
/// events before that.
pub fn take(
    cell: &Cell,
    loaded: Option<Loaded>,
    instrument: &Instrument,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> Event {
    match unchanged(cell, loaded, instrument, stop, tell) {
        Ok((metrics, proof)) => {
            Event::Sample(Box::new(Sample { id: cell.id.clone(), metrics, proof }))
        }
        Err(Refusal { reason, detail, proof }) => Event::Void(Box::new(Void {
            id: cell.id.clone(),
            reason,
            detail,
            proof: proof.map(|proof| *proof),
        })),
    }
}

/// With an agent that is as it was when its session began, and stays so; what else stays on the machine is told.
fn unchanged(
    cell: &Cell,
    loaded: Option<Loaded>,
    instrument: &Instrument,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> Result<(Metrics, Proof), Refusal> {
    instrument.mend()?;
    let machine = Root::machine();
    let before = Residue::now(&machine);
    let outcome = attempt(cell, loaded, stop, tell);
    let left = Residue::now(&machine).since(&before);
    if !left.is_empty() {
        let text = format!(
            "since the sample {} there is on this machine, made by its work or by something else: {}",
            cell.id,
            left.join(", ")
        );
        tell(Event::Log { level: Level::Warning, text });
    }
    let changes: Vec<_> = instrument.mend()?.iter().map(ToString::to_string).collect();
    let (metrics, proof) = outcome?;
    if changes.is_empty() {
        return Ok((metrics, proof));
    }
    let reason = format!("the workload changed the agent that measures it: {}", changes.join("; "));
    Err(Refusal { proof: Some(Box::new(proof)), ..Refusal::new(reason, "") })
}

fn attempt(
    cell: &Cell,
    loaded: Option<Loaded>,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> Result<(Metrics, Proof), Refusal> {
    let workload = &cell.workload;
    let disk = match &cell.disk {
        Some(disk) => {
            let with_log = cell.probes.contains(&Probe::Requests);
            let (root, place) = (workload.root.as_deref(), outside(workload, &cell.scratch)?);
            Some(SampleDisk::start(disk, root, &place, with_log, stop)?)
        }
        None => None,
    };
    let event = |phase| Event::Progress { id: cell.id.clone(), phase };
    let outcome = on_disk(cell, disk.as_ref(), loaded, stop, &mut |phase| tell(event(phase)));
    let Some(disk) = disk else { return outcome };
    let objection = disk.objection();
    let is_valid = outcome.is_ok() && objection.is_none();
    let mut send = |text| {
        if is_valid {
            tell(Event::Requests { id: cell.id.clone(), text });
        }
    };
    // A disk that was lost, or was not what the arm says, explains a failed command, so it is judged first.
    let judged = disk.end(&mut send).and_then(|counts| match objection {
        Some(reason) => Err(anyhow::anyhow!(reason)),
        None => Ok(counts),
    });
    match (judged, outcome) {
        (Ok(counts), outcome) => {
            outcome.map(|(metrics, proof)| (metrics.into_iter().chain(counts).collect(), proof))
        }
        (Err(error), outcome) => {
            let proof = match outcome {
                Ok((_, proof)) => Some(Box::new(proof)),
                Err(refusal) => refusal.proof,
            };
            Err(Refusal { proof, ..error.into() })
        }
    }
}

/// `place` as the agent names it, which has the machine's own root.
fn outside(workload: &Workload, place: &Path) -> Result<PathBuf, Refusal> {
    let mut parts = place.components();
    // A step up could lead out of the workload's root.
    let is_whole = parts.next() == Some(Component::RootDir)
        && parts.all(|part| matches!(part, Component::Normal(_)));
    if !is_whole {
        let sentence =
            format!("cannot work in {}: it is no whole path, from / on", place.display());
        return Err(Refusal::new(sentence, ""));
    }
    let inside = place.strip_prefix("/").map_err(anyhow::Error::from)?;
    Ok(workload.root.as_deref().unwrap_or(Path::new("/")).join(inside))
}

/// In a place where nobody but root can lead elsewhere what root writes.
fn scratch(work: &Workload, cell: &Cell, name: &str) -> Result<Scratch, Refusal> {
    let root = work.root.as_ref().map(|root| {
        root.canonicalize().with_context(|| format!("cannot work below {}", root.display()))
    });
    let root = root.transpose()?;
    let place = outside(work, &cell.scratch)?;
    let resolved = place::to_work_in(root.as_deref(), &place).map_err(anyhow::Error::from)?;
    let below = resolved.strip_prefix(root.as_deref().unwrap_or(Path::new("/")));
    let inside = Path::new("/").join(below.map_err(anyhow::Error::from)?);
    Ok(Scratch::create(root.as_deref(), &inside, name)?)
}

/// In directories of its own, which are gone afterwards with all that was mounted meanwhile.
fn on_disk(
    cell: &Cell,
    disk: Option<&SampleDisk>,
    loaded: Option<Loaded>,
    stop: &Stop,
    progress: &mut dyn FnMut(Phase),
) -> Result<(Metrics, Proof), Refusal> {
    mounts::keep_apart()?;
    let workload = &cell.workload;
    let scratch = scratch(workload, cell, "work")?;
    let beside = match &cell.load {
        Some(load) => Some((load, self::scratch(&load.work, cell, "load")?)),
        None => None,
    };
    // After the mounts of disk and directories, which work must see. It goes before them.
    let view = View::new()?;
    let outcome = {
        let around = surroundings(workload, &view, &scratch, stop)?;
        let beside = match &beside {
            Some((load, scratch)) => Some((*load, surroundings(&load.work, &view, scratch, stop)?)),
            None => None,
        };
        in_scratch(cell, disk, loaded, &around, beside.as_ref(), progress)
    };
    drop(view);
    let scratches = [Some(scratch), beside.map(|(_, scratch)| scratch)];
    let cleared: Vec<_> = scratches.into_iter().flatten().map(Scratch::end).collect();
    let (metrics, proof) = outcome?;
    match cleared.into_iter().collect::<anyhow::Result<()>>() {
        Ok(()) => Ok((metrics, proof)),
        Err(error) => Err(Refusal { proof: Some(Box::new(proof)), ..error.into() }),
    }
}

fn in_scratch(
    cell: &Cell,
    disk: Option<&SampleDisk>,
    loaded: Option<Loaded>,
    around: &Surroundings,
    beside: Option<&(&Load, Surroundings)>,
    progress: &mut dyn FnMut(Phase),
) -> Result<(Metrics, Proof), Refusal> {
    let workload = &cell.workload;
    let unprepared = around.view.now()?;
    progress(Phase::Prepare);
    if cell.rehearse {
        measured::rehearse(workload, around)?;
    }
    measured::prepare(workload, around)?;
    if let Some((load, around)) = &beside {
        measured::prepare(&load.work, around)?;
    }
    if cell.flush {
        let swap = if is_booted_for_us() { Swap::Emptied } else { Swap::Left };
        flush::memory(swap, around.stop)?;
    }
    let prepared = around.view.now()?;
    progress(Phase::Attach);
    let attachment = schedulers::attach(&cell.scheduler, loaded, around.stop)?;
    let mut witness = Witness::before(&attachment);
    progress(Phase::Run);
    let measured = measured::measure(cell, around, beside, &mut witness, disk);
    disk.into_iter().for_each(SampleDisk::note_end);
    let mut proof = witness.after();
    let taken_down = attachment.detach().map_err(anyhow::Error::from)?;
    proof.exit.clone_from(&taken_down.exit);
    let after = around.view.now()?;
    // A scheduler that was lost explains a failed command, so it is judged first; a command that failed explains why none
    // of its threads was seen.
    let judge = if measured.is_ok() { proof::objection } else { proof::attachment };
    if let Some(reason) = judge(&proof) {
        return Err(Refusal {
            reason,
            detail: format!("{}\n{}", proof.kernel_log.join("\n"), taken_down.log()).trim().into(),
            proof: Some(Box::new(proof)),
        });
    }
    match measured.and_then(|metrics| same_mounts(&unprepared, &prepared, &after).map(|()| metrics))
    {
        Ok(metrics) => Ok((metrics, proof)),
        Err(refusal) => Err(Refusal { proof: Some(Box::new(proof)), ..refusal }),
    }
}

/// What a preparation has mounted is there for the work, which may unmount it; all else stays as it was.
fn same_mounts(unprepared: &Seen, prepared: &Seen, after: &Seen) -> Result<(), Refusal> {
    let left = after.since(prepared).mounted;
    let gone = after.since(unprepared).unmounted;
    let sentence = match (&left[..], &gone[..]) {
        ([], []) => return Ok(()),
        ([], gone) => format!("unmounted what it had not mounted: {}", shown(gone)),
        (left, _) => format!("left mounted, until it was unmounted: {}", shown(left)),
    };
    Err(Refusal::new(format!("the workload {sentence}"), ""))
}

fn shown(places: &[PathBuf]) -> String {
    places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn surroundings<'a>(
    workload: &'a Workload,
    view: &'a View,
    scratch: &'a Scratch,
    stop: &'a Stop,
) -> Result<Surroundings<'a>, Refusal> {
    let timeout = Duration::try_from_secs_f64(workload.timeout_s).map_err(|_| {
        let seconds = workload.timeout_s;
        Refusal::new(format!("the time-out {seconds} is not a number of seconds"), "")
    })?;
    let (root, environment) = (workload.root.as_deref(), &workload.environment);
    Ok(Surroundings { root, view, scratch, environment, timeout, stop })
}
