// SPDX-License-Identifier: GPL-2.0-only
//! Samples: `take` answers a request for one. Its steps are in `sample_run`, its disk and
//! directories in `site`, its commands in `work`. The settings of its arm are made before
//! everything else, and put back after everything else.

mod limits;
pub mod metrics;
mod numbers;
mod refusal;
mod sample_run;
mod site;
mod work;

use machine::instrument::Instrument;
use machine::residue::Residue;
use machine::root::Root;
use machine::stop::Stop;
use protocol::{Cell, Event, Level, Proof, Sample, SettingSeen, Void};
use schedulers::Ready;
use settings::{Applied, WorkSettings};

use self::refusal::{Refusal, SampleResult};

/// Takes one sample; anything that goes wrong makes it void with the reason. `ready` may be its
/// scheduler. `tell` gets the events before the result.
pub fn take(
    cell: &Cell,
    ready: Option<Ready>,
    instrument: &Instrument,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> Event {
    match take_intact(cell, ready, instrument, stop, tell) {
        Ok((metrics, proof)) => {
            Event::Sample(Box::new(Sample { id: cell.id.clone(), metrics, proof }))
        }
        Err(Refusal { reason, detail, proof }) => Event::Void(Box::new(Void {
            id: cell.id.clone(),
            reason,
            detail,
            stopped: stop.requested(),
            proof: proof.map(|proof| *proof),
        })),
    }
}

/// Takes a sample while the settings of its arm are in force, and voids it if one of them changed.
/// Warns of anything else that is left on the machine.
fn take_intact(
    cell: &Cell,
    ready: Option<Ready>,
    instrument: &Instrument,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> SampleResult {
    instrument.mend()?;
    let machine = Root::machine();
    let before = Residue::now(&machine);
    let applied = Applied::start(&machine, &cell.settings, stop).map_err(anyhow::Error::from)?;
    instrument.take_kernels_slice()?;
    let outcome = take_with_settings(cell, ready, instrument, stop, tell);
    let (seen, objection) = (list_settings(&applied, cell)?, applied.objection());
    let ended = applied.end().map_err(anyhow::Error::from);
    instrument.take_kernels_slice()?;
    warn_of_residue(cell, &machine, &before, tell);
    let (metrics, proof) = match (outcome, &ended) {
        (Err(refusal), Err(error)) => return Err(refusal.with_detail(error.to_string())),
        (outcome, _) => outcome?,
    };
    let proof = Proof { settings: seen, ..proof };
    match (objection, ended) {
        (Some(reason), ended) => {
            let detail = ended.err().map(|error| error.to_string()).unwrap_or_default();
            Err(Refusal::new(reason, detail).with_proof(proof))
        }
        (None, Err(error)) => Err(Refusal::from(error).with_proof(proof)),
        (None, Ok(())) => Ok((metrics, proof)),
    }
}

/// The settings of the machine, of the workload, and of the load.
fn list_settings(applied: &Applied, cell: &Cell) -> anyhow::Result<Vec<SettingSeen>> {
    let mut seen = applied.seen();
    seen.extend(WorkSettings::parse(&cell.workload.settings)?.seen("workload"));
    if let Some(load) = &cell.load {
        seen.extend(WorkSettings::parse(&load.work.settings)?.seen("load"));
    }
    Ok(seen)
}

/// Takes a sample, and voids it unless the agent still runs with what its session began with.
fn take_with_settings(
    cell: &Cell,
    ready: Option<Ready>,
    instrument: &Instrument,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> SampleResult {
    let outcome = sample_run::take(cell, ready, stop, tell);
    let changes: Vec<_> = instrument.mend()?.iter().map(ToString::to_string).collect();
    let (metrics, proof) = outcome?;
    if changes.is_empty() {
        return Ok((metrics, proof));
    }
    let reason = format!("the workload changed the agent that measures it: {}", changes.join("; "));
    Err(Refusal::new(reason, "").with_proof(proof))
}

fn warn_of_residue(cell: &Cell, machine: &Root, before: &Residue, tell: &mut dyn FnMut(Event)) {
    let residue = Residue::now(machine).since(before);
    if !residue.is_empty() {
        let text = format!(
            "since the sample {} there is on this machine, made by its work or by something else: {}",
            cell.id,
            residue.join(", ")
        );
        tell(Event::Log { level: Level::Warning, text });
    }
}
