// SPDX-License-Identifier: GPL-2.0-only
//! One sample, in the order of its proof:
//!
//! 1. *prepare* runs everything that is not measured, while the kernel's own scheduler is still in
//!    charge; or a program's, in a copy of a guest in which it runs already.
//! 2. *attach* puts the scheduler in charge; the kernel confirms it before anything that is measured runs.
//! 3. *measure* runs the workload, with a load or without, and looks at the scheduling class of its threads.
//! 4. *detach* asks the kernel once more, and only then takes the scheduler away: later nothing
//!    could show that it was in charge to the end.
//! 5. *judge* trusts numbers only with a proof: a scheduler that was lost explains a command that
//!    failed.
//!
//! The disk of a sample is there before its directories, and both before the first step. After the last step the
//! directories go, and then the disk, which is judged first of all: one that was lost explains everything else.

use std::path::PathBuf;

use machine::command::Surroundings;
use machine::flush::{self, Swap};
use machine::stop::Stop;
use machine::view::Seen;
use protocol::{Cell, Event, Metrics, Phase, Proof};
use schedulers::proof::{self, Witness};
use schedulers::{Attachment, Ready};

use super::refusal::{Refusal, SampleResult};
use super::site::{self, LoadWork, Site};
use super::work;
use crate::booted::is_booted_for_us;
use crate::controllers::Controllers;
use crate::disk::SampleDisk;

/// Takes a sample, from the start of its disk to its end. `tell` gets its progress, and the log of
/// the disk's requests if the sample is valid.
pub fn take(
    cell: &Cell,
    ready: Option<Ready>,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> SampleResult {
    let works = cell.load.iter().map(|load| &load.work).chain([&cell.workload]);
    let wanted = works.flat_map(|work| work.controllers.iter().map(String::as_str));
    let _controllers = Controllers::require(wanted)?;
    let disk = site::start_disk(cell, stop)?;
    let event = |phase| Event::Progress { id: cell.id.clone(), phase };
    let mut progress = |phase| tell(event(phase));
    let outcome = Site::create(cell, stop).and_then(|site| {
        let run = SampleRun { cell, site: &site, disk: disk.as_ref(), progress: &mut progress };
        let outcome = run.take(ready);
        site.clear(outcome)
    });
    match disk {
        Some(disk) => site::end_disk(disk, cell, outcome, tell),
        None => outcome,
    }
}

/// A sample that is taken on a site.
struct SampleRun<'a> {
    cell: &'a Cell,
    site: &'a Site<'a>,
    disk: Option<&'a SampleDisk<'a>>,
    progress: &'a mut dyn FnMut(Phase),
}

/// What was mounted on the site before and after the preparations.
struct MountsBefore {
    unprepared: Seen,
    prepared: Seen,
}

/// A scheduler in charge, and the witness that watches it.
struct InCharge {
    witness: Witness,
    attachment: Attachment,
}

/// The proof and the log of a scheduler that was detached.
struct Detached {
    proof: Proof,
    /// Text that the scheduler left when it exited.
    log: String,
    /// What was mounted on the site when the work had ended.
    mounts: Seen,
}

impl SampleRun<'_> {
    fn take(mut self, ready: Option<Ready>) -> SampleResult {
        let mounts = self.prepare()?;
        let mut in_charge = self.attach(ready)?;
        let measured = self.measure(&mut in_charge.witness);
        let detached = self.detach(in_charge)?;
        judge(measured, &mounts, detached)
    }

    /// Runs the rehearsal and the preparations, and flushes memory if that is wanted.
    fn prepare(&mut self) -> Result<MountsBefore, Refusal> {
        let context = self.site.work();
        let unprepared = context.view.now()?;
        (self.progress)(Phase::Prepare);
        if self.cell.rehearse {
            work::rehearse(&self.cell.workload, self.site.settings(), &context)?;
        }
        work::prepare(&self.cell.workload, &context)?;
        if let Some(LoadWork { load, context, .. }) = &self.site.load() {
            work::prepare(&load.work, context)?;
        }
        if self.cell.flush {
            self.flush(&context)?;
        }
        Ok(MountsBefore { unprepared, prepared: context.view.now()? })
    }

    fn flush(&self, context: &Surroundings) -> anyhow::Result<()> {
        let swap = if is_booted_for_us() { Swap::Emptied } else { Swap::Left };
        flush::memory(swap, context.stop)
    }

    /// Puts the scheduler in charge, and notes what the kernel reports about it.
    fn attach(&mut self, ready: Option<Ready>) -> Result<InCharge, Refusal> {
        (self.progress)(Phase::Attach);
        let stop = self.site.work().stop;
        let attachment = schedulers::attach(&self.cell.scheduler, ready, stop)?;
        let witness = Witness::before(&attachment);
        Ok(InCharge { witness, attachment })
    }

    /// Runs the workload. If it fails, that is judged after the proof.
    fn measure(&mut self, witness: &mut Witness) -> Result<Metrics, Refusal> {
        (self.progress)(Phase::Run);
        let measured = work::measure(self.site, self.cell, witness, self.disk);
        self.disk.into_iter().for_each(SampleDisk::note_end);
        measured
    }

    /// Completes the proof, and takes the scheduler away.
    fn detach(&self, in_charge: InCharge) -> Result<Detached, Refusal> {
        let mut proof = in_charge.witness.after();
        let left = in_charge.attachment.detach().map_err(anyhow::Error::from)?;
        proof.exit.clone_from(&left.exit);
        Ok(Detached { proof, log: left.log(), mounts: self.site.work().view.now()? })
    }
}

/// Decides whether what was measured counts: the scheduler was in charge throughout, the commands ended as they should,
/// and what is mounted is what was mounted before.
fn judge(
    measured: Result<Metrics, Refusal>,
    before: &MountsBefore,
    detached: Detached,
) -> SampleResult {
    let Detached { proof, log, mounts } = detached;
    // A scheduler that was lost explains a failed command, so it is judged first; a command that failed explains why none
    // of its threads was seen.
    let judge = if measured.is_ok() { proof::objection } else { proof::attachment };
    if let Some(reason) = judge(&proof) {
        let detail = format!("{}\n{log}", proof.kernel_log.join("\n"));
        return Err(Refusal::new(reason, detail.trim()).with_proof(proof));
    }
    match measured.and_then(|metrics| require_same_mounts(before, &mounts).map(|()| metrics)) {
        Ok(metrics) => Ok((metrics, proof)),
        Err(refusal) => Err(refusal.with_proof(proof)),
    }
}

/// Requires that the workload left the mounts alone. It may only unmount what a preparation mounted
/// for it.
fn require_same_mounts(before: &MountsBefore, after: &Seen) -> Result<(), Refusal> {
    let added = after.since(&before.prepared).mounted;
    let removed = after.since(&before.unprepared).unmounted;
    let sentence = match (&added[..], &removed[..]) {
        ([], []) => return Ok(()),
        ([], removed) => format!("unmounted what it had not mounted: {}", list(removed)),
        (added, _) => format!("left mounted, until it was unmounted: {}", list(added)),
    };
    Err(Refusal::new(format!("the workload {sentence}"), ""))
}

fn list(places: &[PathBuf]) -> String {
    places.iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ")
}
