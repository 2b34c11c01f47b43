// SPDX-License-Identifier: GPL-2.0-only
//! Proof that the kernel's queue of a disk stayed as it was while a sample ran.

use std::collections::BTreeMap;
use std::io;

use crate::kernel_queue::{KernelQueue, TUNABLES};

/// A queue that is watched from its `start` on.
pub struct QueueWatch {
    disk: String,
    before: QueueState,
}

#[derive(Debug, PartialEq, Eq)]
struct QueueState {
    elevator: String,
    /// When an elevator was last added or removed.
    changed: (i64, i64),
    /// The other settings, by file.
    values: BTreeMap<String, String>,
}

impl QueueWatch {
    /// Notes how the queue of `disk`, as /sys/block names it, is now.
    ///
    /// # Errors
    /// The disk has no such queue.
    pub fn start(disk: &str) -> io::Result<Self> {
        KernelQueue::of(disk).watch()?;
        Ok(Self { disk: disk.into(), before: QueueState::now(disk)? })
    }

    /// The disk, as /sys/block names it.
    pub fn disk(&self) -> &str {
        &self.disk
    }

    /// The elevator that was in charge at the start.
    pub fn elevator(&self) -> &str {
        &self.before.elevator
    }

    /// What has changed since the start, as a sentence.
    pub fn objection(&self) -> Option<String> {
        let Self { disk, before } = self;
        let after = match QueueState::now(disk) {
            Ok(after) => after,
            Err(error) => {
                return Some(format!("the elevator of {disk} cannot be seen any more: {error}"));
            }
        };
        let during = "while the sample ran";
        if after.elevator != before.elevator {
            let (old, new) = (&before.elevator, &after.elevator);
            return Some(format!(
                "the elevator of {disk} was changed from {old} to {new} {during}"
            ));
        }
        let elevator = &after.elevator;
        if after.changed != before.changed {
            return Some(format!(
                "the elevator {elevator} of {disk} was changed and changed back {during}"
            ));
        }
        let mut values = before.values.iter();
        let (file, old) = values.find(|(file, old)| after.values.get(*file) != Some(*old))?;
        let new = after.values.get(file).map_or("nothing", String::as_str);
        let what = match file.strip_prefix(TUNABLES) {
            Some(name) => format!("{name} of the elevator {elevator}"),
            None => format!("{file} of the queue"),
        };
        Some(format!("{what} of {disk} was changed from {old} to {new} {during}"))
    }
}

impl QueueState {
    fn now(disk: &str) -> io::Result<Self> {
        let queue = KernelQueue::of(disk);
        Ok(Self { elevator: queue.elevator()?, changed: queue.changed()?, values: queue.values()? })
    }
}
