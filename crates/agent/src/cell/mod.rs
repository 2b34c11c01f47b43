// SPDX-License-Identifier: GPL-2.0-only
//! Samples: `take` answers a request for one. Its steps are in `sample_run`, its disk and
//! directories in `site`, its commands in `work`.

mod controllers;
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
use protocol::{Cell, Event, Level, Sample, Void};
use schedulers::Loaded;

use self::refusal::{Refusal, SampleResult};

/// Takes one sample; anything that goes wrong makes it void with the reason. `loaded` may be its
/// scheduler. `tell` gets the events before the result.
pub fn take(
    cell: &Cell,
    loaded: Option<Loaded>,
    instrument: &Instrument,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> Event {
    match take_intact(cell, loaded, instrument, stop, tell) {
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

/// Takes a sample, and voids it unless the agent still has the settings that its session began
/// with. Warns of anything else that is left on the machine.
fn take_intact(
    cell: &Cell,
    loaded: Option<Loaded>,
    instrument: &Instrument,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> SampleResult {
    instrument.mend()?;
    let machine = Root::machine();
    let before = Residue::now(&machine);
    let outcome = sample_run::take(cell, loaded, stop, tell);
    warn_of_residue(cell, &machine, &before, tell);
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
