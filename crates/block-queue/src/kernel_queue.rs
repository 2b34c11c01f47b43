// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's queue of a disk: its elevator and settings (Linux
//! Documentation/ABI/stable/sysfs-block, block/blk-sysfs.c, block/elevator.c).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;

use crate::error::QueueError;
use crate::kernel::{KernelElevator, Tunable};

/// Longest wait while the kernel reports the queue as busy.
const BUSY: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// Directory of the tunables of the elevator in charge, below the queue's directory.
pub const TUNABLES: &str = "iosched/";
/// Other files that the kernel changes with the elevator (block/blk-mq-sched.c `blk_mq_init_sched`,
/// block/blk-wbt.c).
const FOLLOWING: [&str; 3] = ["nr_requests", "async_depth", "wbt_lat_usec"];

pub struct KernelQueue {
    disk: String,
    directory: PathBuf,
}

impl KernelQueue {
    /// The queue of `disk`, as /sys/block names it.
    pub fn of(disk: &str) -> Self {
        Self { disk: disk.into(), directory: Path::new("/sys/block").join(disk).join("queue") }
    }

    /// Reads a file below the queue's directory, without the end of its last line.
    ///
    /// # Errors
    /// There is no such file, or it is not text.
    pub fn read(&self, file: &str) -> io::Result<String> {
        Ok(fs::read_to_string(self.directory.join(file))?.trim_end().into())
    }

    /// Writes into a file below the queue's directory. Waits while the kernel answers EBUSY,
    /// because it changes the queue of another disk with the same tags.
    ///
    /// # Errors
    /// There is no such file, or the kernel does not take the value.
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

    /// The inode of the queue's directory. Hardly any other queue gets it before the next boot:
    /// sysfs gives out its numbers in turn.
    pub fn inode(&self) -> Option<u64> {
        fs::metadata(&self.directory).ok().map(|data| data.ino())
    }

    /// The elevator in charge.
    ///
    /// # Errors
    /// The disk has gone, or has no such queue.
    pub fn elevator(&self) -> io::Result<String> {
        Ok(chosen(&self.read("scheduler")?).into())
    }

    /// The disk's model, and whether it is rotational.
    pub fn about(&self) -> String {
        let model = self.read("../device/model").unwrap_or_else(|_| "no model".into());
        let turns = self.read("rotational").is_ok_and(|number| number == "1");
        format!("{}, {}", model.trim(), if turns { "turns" } else { "does not turn" })
    }

    /// The tunables of the elevator in charge, and the files that the kernel changes with it, by
    /// file.
    ///
    /// # Errors
    /// A tunable cannot be read.
    pub fn values(&self) -> io::Result<BTreeMap<String, String>> {
        let entries = fs::read_dir(self.directory.join(TUNABLES)).into_iter().flatten().flatten();
        let tunables = entries.map(|entry| tunable(&entry.file_name().to_string_lossy()));
        let tunables = tunables.map(|file| Ok((file.clone(), self.read(&file)?)));
        // Not every kernel, or disk, has each of these.
        let following = FOLLOWING.iter().filter_map(|file| Some((*file, self.read(file).ok()?)));
        tunables.chain(following.map(|(file, value)| Ok((file.to_owned(), value)))).collect()
    }

    /// Makes `changed` work from now on: sysfs keeps the times of a directory once they have been
    /// set (fs/kernfs/inode.c `__kernfs_setattr`, fs/kernfs/dir.c `kernfs_add_one`).
    ///
    /// # Errors
    /// The disk has gone, or this user may not change its queue.
    pub fn watch(&self) -> io::Result<()> {
        let (now, follow) = (TimeSpec::UTIME_NOW, UtimensatFlags::FollowSymlink);
        Ok(utimensat(AT_FDCWD, &self.directory, &now, &now, follow)?)
    }

    /// When an elevator was last added or removed, in seconds and nanoseconds, if `watch` was
    /// called before.
    ///
    /// # Errors
    /// The disk has gone.
    pub fn changed(&self) -> io::Result<(i64, i64)> {
        let data = fs::metadata(&self.directory)?;
        Ok((data.mtime(), data.mtime_nsec()))
    }

    /// Puts `elevator` in charge.
    ///
    /// # Errors
    /// The kernel has no such elevator, or another one is still in charge.
    pub fn choose(&self, elevator: &KernelElevator) -> Result<(), QueueError> {
        let (name, device) = (elevator.name.to_owned(), self.disk.clone());
        match self.write("scheduler", elevator.name) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(QueueError::NoKernelElevator {
                    name,
                    device,
                    module: elevator.missing_module(),
                });
            }
            Err(error) => return Err(QueueError::NotInCharge { name, device, error }),
        }
        // A queue that can have no elevator accepts every name and does nothing.
        match self.elevator() {
            Ok(found) if found == elevator.name => Ok(()),
            found => {
                let found = found.unwrap_or_else(|error| error.to_string());
                let error = io::Error::other(format!("it is {found}"));
                Err(QueueError::NotInCharge { name, device, error })
            }
        }
    }

    /// Sets the given tunables, and checks all of them after the last one: one can change another.
    ///
    /// # Errors
    /// The kernel has no such tunable, or did not take a value.
    pub fn tune(
        &self,
        elevator: &KernelElevator,
        given: &[(&Tunable, u64)],
    ) -> Result<(), QueueError> {
        let failed = |tunable: &Tunable| {
            let (name, file) = (elevator.name.into(), tunable.file.into());
            move |error| QueueError::NoTunable { name, file, error }
        };
        for (set, wanted) in given {
            self.write(&tunable(set.file), &wanted.to_string()).map_err(failed(set))?;
        }
        for (set, wanted) in given {
            let found = self.read(&tunable(set.file)).map_err(failed(set))?;
            if !found.parse().is_ok_and(|found| set.became(*wanted, found)) {
                return Err(QueueError::NotTaken {
                    name: elevator.name.into(),
                    file: set.file.into(),
                    wanted: *wanted,
                    found,
                });
            }
        }
        Ok(())
    }
}

fn tunable(name: &str) -> String {
    format!("{TUNABLES}{name}")
}

/// The elevator in brackets, or the only one.
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
