// SPDX-License-Identifier: GPL-2.0-only
//! The machine's own disks during a sample: an elevator of the kernel is put in charge of them, and afterwards
//! everything is as it was, also when this process is killed (`sweep`).

mod activity;
mod below;
mod kept;
mod latency;
mod record;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use nix::unistd::syncfs;

use self::activity::Activity;
use self::below::disks_below;
use self::kept::Kept;
use self::latency::Watch;
pub use self::record::sweep;
use self::record::{Record, Records};
use super::error::DiskError;
use super::in_charge::InCharge;
use super::kernel::{KernelElevator, Tunable};
use super::metrics::Metrics;
use super::queue::Queue;
use super::setup;
use crate::protocol::{Borrow, BorrowedDisk};

pub struct Borrowed {
    place: PathBuf,
    record: Record,
    in_charge: Vec<InCharge>,
    watch: Option<Watch>,
    /// When the workload started.
    before: Cell<Activity>,
    /// From there to its end.
    metrics: RefCell<Metrics>,
    is_returned: bool,
}

impl Borrowed {
    /// Those that `place` lies on, with a fresh elevator if one is wanted.
    ///
    /// # Errors
    /// There are none, another agent has one of them, or the kernel does not take the elevator or what is set of it.
    pub fn start(wanted: &Borrow, place: &Path) -> Result<Self> {
        let elevator = match &wanted.elevator {
            Some(name) => Some(setup::kernel_elevator(name, &wanted.parameters)?),
            None => None,
        };
        let disks = match (disks_below(place), &elevator) {
            (Err(DiskError::OnNoDisk { .. }), None) => BTreeSet::new(),
            (found, _) => found?,
        };
        let records = Records::lock()?;
        records.settle(&disks)?;
        let kept = disks.iter().map(|disk| Kept::of(disk));
        let kept = match &elevator {
            Some(_) => kept.collect::<Result<_, _>>()?,
            // Where there is none it cannot be changed either.
            None => kept.flatten().collect(),
        };
        let record = records.add(place, kept)?;
        drop(records);
        // From here on its end puts everything back.
        let (in_charge, before, metrics) = Default::default();
        let (place, watch, is_returned) = (place.into(), None, false);
        let mut borrowed = Self { place, record, in_charge, watch, before, metrics, is_returned };
        if let Some((elevator, given)) = &elevator {
            borrowed.write_back()?;
            borrowed.put_in_charge(elevator, given)?;
        }
        let disks = borrowed.record.disks.iter();
        let seen: Result<_, _> = disks.map(|kept| InCharge::now(&kept.disk)).collect();
        borrowed.in_charge = seen.context("cannot see the disk's elevator")?;
        if let Some((elevator, _)) = elevator {
            borrowed.must_have(elevator)?;
        }
        borrowed.watch = Watch::start(borrowed.in_charge.iter().map(InCharge::disk));
        Ok(borrowed)
    }

    fn put_in_charge(
        &self,
        elevator: &KernelElevator,
        given: &[(&'static Tunable, u64)],
    ) -> Result<(), DiskError> {
        for kept in &self.record.disks {
            let queue = Queue::of(&kept.disk);
            // A change of the elevator to itself would leave it as it is.
            queue.choose(KernelElevator::none())?;
            queue.choose(elevator)?;
            queue.tune(elevator, given)?;
        }
        Ok(())
    }

    /// Somebody else, such as a rule of udev's, may have chosen again.
    fn must_have(&self, elevator: &KernelElevator) -> Result<()> {
        for seen in &self.in_charge {
            let (wanted, found, disk) = (elevator.name, seen.elevator(), seen.disk());
            ensure!(found == wanted, "{wanted} did not stay in charge of {disk}: it is {found}");
        }
        Ok(())
    }

    pub fn disks(&self) -> Vec<BorrowedDisk> {
        let told = self.in_charge.iter().map(|seen| BorrowedDisk {
            name: seen.disk().into(),
            about: Queue::of(seen.disk()).about(),
            elevator: seen.elevator().into(),
        });
        told.collect()
    }

    pub fn note_start(&self) {
        self.before.set(self.counted());
        self.watch.iter().for_each(Watch::begin);
    }

    pub fn note_end(&self) {
        let mut metrics = (self.counted() - self.before.get()).metrics();
        metrics.extend(self.watch.iter().flat_map(Watch::metrics));
        self.metrics.replace(metrics);
    }

    /// Why an elevator was not the same throughout.
    pub fn objection(&self) -> Option<String> {
        self.in_charge.iter().find_map(InCharge::objection)
    }

    /// Puts everything back; what the disks have done from `note_start` to `note_end`.
    pub fn end(mut self) -> Result<Metrics> {
        self.write_back()?;
        self.give_back()?;
        // What is on no disk of this kind has nothing to tell.
        let is_on_disk = !self.record.disks.is_empty();
        Ok(if is_on_disk { self.metrics.take() } else { Metrics::new() })
    }

    /// What one elevator has let wait is nothing for the next.
    fn write_back(&self) -> Result<()> {
        let written = File::open(&self.place).and_then(|file| Ok(syncfs(&file)?));
        written
            .with_context(|| format!("cannot write back what waits for {}", self.place.display()))
    }

    fn counted(&self) -> Activity {
        let disks = self.record.disks.iter();
        disks.map(|kept| Activity::of(&kept.disk)).fold(Activity::default(), |sum, one| sum + one)
    }

    /// If it fails the record stays, for `sweep`.
    fn give_back(&mut self) -> Result<(), DiskError> {
        self.is_returned = true;
        Records::lock()?.give_back(&self.record).map(drop)
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        if !self.is_returned
            && let Err(error) = self.give_back()
        {
            eprintln!("runoff-agent: {error}");
        }
    }
}
