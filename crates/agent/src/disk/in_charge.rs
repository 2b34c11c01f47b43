// SPDX-License-Identifier: GPL-2.0-only
//! Proof that the kernel's queue of a disk stayed as it was while a sample ran.

use std::collections::BTreeMap;
use std::io;

use super::queue::Queue;

pub struct InCharge {
    disk: String,
    before: Seen,
}

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    elevator: String,
    /// Every elevator that is put in charge has a new directory.
    directory: Option<u64>,
    tunables: BTreeMap<String, String>,
}

impl InCharge {
    /// Of `disk`, as /sys/block names it and as it is now.
    pub fn now(disk: &str) -> io::Result<Self> {
        Ok(Self { disk: disk.into(), before: Seen::now(disk)? })
    }

    pub fn disk(&self) -> &str {
        &self.disk
    }

    pub fn elevator(&self) -> &str {
        &self.before.elevator
    }

    /// What has changed since, in a sentence.
    pub fn objection(&self) -> Option<String> {
        let Self { disk, before } = self;
        let after = match Seen::now(disk) {
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
        if after.directory != before.directory {
            return Some(format!(
                "the elevator {elevator} of {disk} was put in charge anew {during}"
            ));
        }
        let mut tunables = before.tunables.iter();
        let (name, old) = tunables.find(|(name, old)| after.tunables.get(*name) != Some(*old))?;
        let new = after.tunables.get(name).map_or("nothing", String::as_str);
        Some(format!(
            "{name} of the elevator {elevator} of {disk} was changed from {old} to {new} {during}"
        ))
    }
}

impl Seen {
    fn now(disk: &str) -> io::Result<Self> {
        let queue = Queue::of(disk);
        Ok(Self {
            elevator: queue.elevator()?,
            directory: queue.inode_of_tunables(),
            tunables: queue.tunables()?,
        })
    }
}
