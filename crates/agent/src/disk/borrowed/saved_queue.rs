// SPDX-License-Identifier: GPL-2.0-only
//! The settings of a disk's queue, saved so that they can be put back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use block_queue::QueueError;
use block_queue::kernel_queue::KernelQueue;

use machine::loans::Saved;

/// How often values are written: one tunable can change another.
const ROUNDS: usize = 2;

/// A queue of the kernel as it was before it was borrowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedQueue {
    /// The disk, as /sys/block names it.
    pub disk: String,
    /// The inode of its queue: another disk may have the name later.
    inode: Option<u64>,
    elevator: String,
    /// The settings, by file below the queue's directory.
    values: BTreeMap<String, String>,
}

impl SavedQueue {
    /// Reads how the queue of `disk`, as /sys/block names it, is now.
    ///
    /// # Errors
    /// The disk has no elevator.
    pub fn read(disk: &str) -> Result<Self, QueueError> {
        let queue = KernelQueue::of(disk);
        let absent = |error| QueueError::NoElevator { disk: disk.into(), error };
        let elevator = queue.elevator().map_err(absent)?;
        let values = queue.values().map_err(absent)?;
        Ok(Self { disk: disk.into(), inode: queue.inode(), elevator, values })
    }

    /// Files and values that are not what they were.
    fn differences(&self, queue: &KernelQueue) -> Vec<(String, String)> {
        let elevator = ("scheduler".to_owned(), self.elevator.clone());
        let chosen = queue.elevator().ok();
        let values = self
            .values
            .iter()
            .filter(|(file, value)| queue.read(file).ok().as_ref() != Some(*value));
        let values = values.map(|(file, value)| (file.clone(), value.clone()));
        (chosen.as_ref() != Some(&self.elevator))
            .then_some(elevator)
            .into_iter()
            .chain(values)
            .collect()
    }
}

impl Saved for SavedQueue {
    const DIRECTORY: &'static str = "/run/runoff-borrowed";
    const KIND: &'static str = "the elevator of ";

    fn name(&self) -> &str {
        &self.disk
    }

    fn put_back(&self) -> Result<bool, String> {
        let queue = KernelQueue::of(&self.disk);
        if queue.inode() != self.inode || queue.elevator().is_err() {
            // The disk has gone, and its settings with it.
            return Ok(false);
        }
        let was_changed = !self.differences(&queue).is_empty();
        if queue.elevator().ok().as_deref() != Some(&*self.elevator) {
            // Whether it worked is checked below.
            let _ = queue.write("scheduler", &self.elevator);
        }
        for _ in 0..ROUNDS {
            for (file, value) in self.differences(&queue) {
                let _ = queue.write(&file, &value);
            }
        }
        let differences = self.differences(&queue);
        if differences.is_empty() {
            return Ok(was_changed);
        }
        let values: Vec<_> =
            differences.iter().map(|(file, value)| format!("{file} {value}")).collect();
        Err(format!("write into /sys/block/{}/queue: {}", self.disk, values.join(", ")))
    }
}
