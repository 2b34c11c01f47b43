// SPDX-License-Identifier: GPL-2.0-only
//! The machine's own disks during a sample: an elevator of the kernel is put in charge of them, and afterwards
//! everything is as it was, also when this process is killed (`machine::loans`).

mod activity;
mod below;
mod latency;
mod saved_queue;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use block_queue::QueueError;
use block_queue::kernel::{KernelElevator, Tunable};
use block_queue::kernel_queue::KernelQueue;
use block_queue::queue_watch::QueueWatch;
use nix::unistd::syncfs;

use self::activity::Activity;
use self::below::disks_below;
use self::latency::Watch;
pub use self::saved_queue::SavedQueue;
use super::error::PlaceError;
use super::place;
use machine::loans::{self, Loans};
use machine::root::Root;
use machine::stop::Stop;
use protocol::{Borrow, BorrowedDisk, Metrics};

pub struct Borrowed {
    place: PathBuf,
    queues: loans::Borrowed<SavedQueue>,
    watches: Vec<QueueWatch>,
    latencies: Option<Watch>,
    /// When the workload started.
    before: Cell<Activity>,
    /// What was counted from the workload's start to its end.
    metrics: RefCell<Metrics>,
}

impl Borrowed {
    /// Borrows the disks that `place`, below `root` if there is one, lies on, with a fresh elevator if one is wanted.
    ///
    /// # Errors
    /// There are no disks, another agent has one of them, or the kernel does not take the elevator
    /// or its settings.
    pub fn start(wanted: &Borrow, root: Option<&Path>, place: &Path, stop: &Stop) -> Result<Self> {
        let elevator = match &wanted.elevator {
            Some(name) => Some(KernelElevator::find_with(name, &wanted.parameters)?),
            None => None,
        };
        let place = place::resolve_for_work(root, place)?;
        let disks = match (disks_below(&place), &elevator) {
            (Err(PlaceError::OnNoDisk { .. }), None) => BTreeSet::new(),
            (found, _) => found?,
        };
        let loans = Loans::<SavedQueue>::lock(&Root::machine(), Some(stop))?;
        loans.settle(disks.iter().map(String::as_str))?;
        let saved = disks.iter().map(|disk| SavedQueue::read(disk));
        let saved = match &elevator {
            Some(_) => saved.collect::<Result<_, _>>()?,
            // A queue without an elevator cannot be changed either.
            None => saved.flatten().collect(),
        };
        let loan = loans.add(Some(&place), saved)?;
        drop(loans);
        let queues = loans::Borrowed::new(&Root::machine(), loan);
        // From here on, dropping it puts everything back.
        let (watches, before, metrics) = Default::default();
        let latencies = None;
        let mut borrowed = Self { place, queues, watches, latencies, before, metrics };
        if let Some((elevator, given)) = &elevator {
            borrowed.write_back()?;
            borrowed.put_in_charge(elevator, given)?;
        }
        let disks = borrowed.queues.things().iter();
        let watches: Result<_, _> = disks.map(|saved| QueueWatch::start(&saved.disk)).collect();
        borrowed.watches = watches.context("cannot see the disk's elevator")?;
        if let Some((elevator, _)) = elevator {
            borrowed.require(elevator)?;
        }
        borrowed.latencies = Watch::start(borrowed.watches.iter().map(QueueWatch::disk));
        Ok(borrowed)
    }

    fn put_in_charge(
        &self,
        elevator: &KernelElevator,
        given: &[(&'static Tunable, u64)],
    ) -> Result<(), QueueError> {
        for saved in self.queues.things() {
            let queue = KernelQueue::of(&saved.disk);
            // Choosing the elevator that is already there would keep its state.
            queue.choose(KernelElevator::none())?;
            queue.choose(elevator)?;
            queue.tune(elevator, given)?;
        }
        Ok(())
    }

    /// Requires `elevator` on every disk: a udev rule, for example, may have chosen another one.
    fn require(&self, elevator: &KernelElevator) -> Result<()> {
        for queue in &self.watches {
            let (wanted, found, disk) = (elevator.name, queue.elevator(), queue.disk());
            ensure!(found == wanted, "{wanted} did not stay in charge of {disk}: it is {found}");
        }
        Ok(())
    }

    pub fn disks(&self) -> Vec<BorrowedDisk> {
        let disks = self.watches.iter().map(|queue| BorrowedDisk {
            name: queue.disk().into(),
            about: KernelQueue::of(queue.disk()).about(),
            elevator: queue.elevator().into(),
        });
        disks.collect()
    }

    pub fn note_start(&self) {
        self.before.set(self.counted());
        self.latencies.iter().for_each(Watch::begin);
    }

    pub fn note_end(&self) {
        let mut metrics = (self.counted() - self.before.get()).metrics();
        self.latencies.iter().for_each(|latencies| metrics.merge(latencies.metrics()));
        self.metrics.replace(metrics);
    }

    /// Why an elevator was not the same throughout.
    pub fn objection(&self) -> Option<String> {
        self.watches.iter().find_map(QueueWatch::objection)
    }

    /// Puts everything back; returns what the disks did from `note_start` to `note_end`.
    pub fn end(mut self) -> Result<Metrics> {
        self.write_back()?;
        self.queues.give_back()?;
        // There are no metrics without a disk of this kind.
        let is_on_disk = !self.queues.things().is_empty();
        Ok(if is_on_disk { self.metrics.take() } else { Metrics::new() })
    }

    /// Writes back data that still waits, so that the next elevator does not get it.
    fn write_back(&self) -> Result<()> {
        let written = File::open(&self.place).and_then(|file| Ok(syncfs(&file)?));
        written
            .with_context(|| format!("cannot write back what waits for {}", self.place.display()))
    }

    fn counted(&self) -> Activity {
        let disks = self.queues.things().iter();
        disks.map(|saved| Activity::of(&saved.disk)).fold(Activity::default(), |sum, one| sum + one)
    }
}
