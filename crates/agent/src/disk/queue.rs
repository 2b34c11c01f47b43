// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's queue of a disk: its elevator and what is set of it (Linux Documentation/ABI/stable/sysfs-block,
//! block/blk-sysfs.c, block/elevator.c).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::error::DiskError;
use super::kernel::{KernelElevator, Tunable};

/// How long it may be in another's hands.
const BUSY: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

pub struct Queue {
    disk: String,
    directory: PathBuf,
}

impl Queue {
    /// Of `disk`, as /sys/block names it.
    pub fn of(disk: &str) -> Self {
        Self { disk: disk.into(), directory: Path::new("/sys/block").join(disk).join("queue") }
    }

    pub fn read(&self, file: &str) -> io::Result<String> {
        Ok(fs::read_to_string(self.directory.join(file))?.trim_end().into())
    }

    /// Waits while the kernel changes the queue of another disk with the same tags, of which it says EBUSY.
    pub fn write(&self, file: &str, value: &str) -> io::Result<()> {
        let start = Instant::now();
        loop {
            match fs::write(self.directory.join(file), value) {
                Err(error)
                    if error.kind() == io::ErrorKind::ResourceBusy && start.elapsed() < BUSY =>
                {
                    sleep(LOOK);
                }
                written => return written,
            }
        }
    }

    /// No other queue has it until the next boot, or almost: numbers of sysfs are given out in turn.
    pub fn inode(&self) -> Option<u64> {
        fs::metadata(&self.directory).ok().map(|data| data.ino())
    }

    /// The one in charge.
    pub fn elevator(&self) -> io::Result<String> {
        Ok(chosen(&self.read("scheduler")?).into())
    }

    /// The disk's model, and whether it turns.
    pub fn about(&self) -> String {
        let model = self.read("../device/model").unwrap_or_else(|_| "no model".into());
        let turns = self.read("rotational").is_ok_and(|number| number == "1");
        format!("{}, {}", model.trim(), if turns { "turns" } else { "does not turn" })
    }

    /// What can be set of the elevator in charge, by its file.
    pub fn tunables(&self) -> io::Result<BTreeMap<String, String>> {
        let entries = fs::read_dir(self.iosched()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.map(|name| Ok((name.clone(), self.read(&tunable(&name))?))).collect()
    }

    /// Which directory they are in: every elevator that is put in charge has a new one.
    pub fn inode_of_tunables(&self) -> Option<u64> {
        fs::metadata(self.iosched()).ok().map(|data| data.ino())
    }

    pub fn choose(&self, elevator: &KernelElevator) -> Result<(), DiskError> {
        let (name, device) = (elevator.name.to_owned(), self.disk.clone());
        match self.write("scheduler", elevator.name) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(DiskError::NoKernelElevator { name, device, module: elevator.module });
            }
            Err(error) => return Err(DiskError::NotInCharge { name, device, error }),
        }
        // A queue that can have no elevator takes every name and does nothing.
        match self.elevator() {
            Ok(found) if found == elevator.name => Ok(()),
            found => {
                let found = found.unwrap_or_else(|error| error.to_string());
                let error = io::Error::other(format!("it is {found}"));
                Err(DiskError::NotInCharge { name, device, error })
            }
        }
    }

    /// Sets what was given, and looks at all of it when the last has been set: one can change another.
    pub fn tune(
        &self,
        elevator: &KernelElevator,
        given: &[(&Tunable, u64)],
    ) -> Result<(), DiskError> {
        let failed = |tunable: &Tunable| {
            let (name, file) = (elevator.name.into(), tunable.file.into());
            move |error| DiskError::NoTunable { name, file, error }
        };
        for (set, wanted) in given {
            self.write(&tunable(set.file), &wanted.to_string()).map_err(failed(set))?;
        }
        for (set, wanted) in given {
            let found = self.read(&tunable(set.file)).map_err(failed(set))?;
            if !found.parse().is_ok_and(|found| set.became(*wanted, found)) {
                return Err(DiskError::NotTaken {
                    name: elevator.name.into(),
                    file: set.file.into(),
                    wanted: *wanted,
                    found,
                });
            }
        }
        Ok(())
    }

    fn iosched(&self) -> PathBuf {
        self.directory.join("iosched")
    }
}

/// Its file in the queue's directory.
pub fn tunable(name: &str) -> String {
    format!("iosched/{name}")
}

/// The one in brackets, or the only one.
fn chosen(offered: &str) -> &str {
    let bracketed = offered.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(offered, |(chosen, _)| chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elevator_is_in_brackets_unless_it_is_the_only_one() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }
}
