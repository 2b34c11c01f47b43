// SPDX-License-Identifier: GPL-2.0-only
//! What an agent has borrowed, in a file, written before anything is changed: so that another can put it back.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use super::kept::Kept;
use crate::disk::error::DiskError;
use crate::{owner, scratch};

/// Empty after a boot, which also forgets all settings of queues.
const DIRECTORY: &str = "/run/runoff-borrowed";

#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    agent: Agent,
    place: PathBuf,
    pub disks: Vec<Kept>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Agent {
    pid: i32,
    started: u64,
}

/// As long as it is held nobody else begins or ends to borrow.
pub struct Records {
    _lock: Flock<File>,
}

/// What has been done for agents that are no longer there, a sentence on each thing; and what could not be.
#[derive(Default)]
pub struct Swept {
    pub done: Vec<String>,
    pub failures: Vec<DiskError>,
}

impl Records {
    pub fn lock() -> Result<Self, DiskError> {
        DirBuilder::new().recursive(true).mode(0o700).create(DIRECTORY).map_err(unwritten)?;
        let directory = File::open(DIRECTORY).map_err(unwritten)?;
        let about = directory.metadata().map_err(unwritten)?;
        if about.uid() != 0 || about.mode() & 0o022 != 0 {
            return Err(unwritten(io::Error::other("others than root can write there")));
        }
        // Who can open it can hold the lock.
        directory.set_permissions(Permissions::from_mode(0o700)).map_err(unwritten)?;
        let locked = Flock::lock(directory, FlockArg::LockExclusive);
        Ok(Self { _lock: locked.map_err(|(_, errno)| unwritten(errno.into()))? })
    }

    /// That this process has borrowed `disks` to work in `place`.
    ///
    /// # Errors
    /// Another has one of them.
    pub fn add(&self, place: &Path, disks: Vec<Kept>) -> Result<Record, DiskError> {
        let agent = Agent::this();
        for other in readable(self.all()).filter(|other| other.agent.is_there()) {
            if let Some(disk) = disks.iter().find(|disk| other.has(&disk.disk)) {
                return Err(DiskError::Lent { disk: disk.disk.clone(), agent: other.agent.pid });
            }
        }
        let record = Record { agent, place: place.into(), disks };
        let text = serde_json::to_vec(&record).expect("numbers and text are JSON");
        // If this process ends in the middle there is no record, and nothing has been changed yet.
        let part = record.path().with_extension("part");
        let written = fs::write(&part, text).and_then(|()| fs::rename(&part, record.path()));
        written.map_err(unwritten)?;
        Ok(record)
    }

    /// Puts back whatever of `disks` nobody will who is still there: so that they are not taken for what they were.
    pub fn settle<'a>(&self, disks: impl IntoIterator<Item = &'a String>) -> Result<(), DiskError> {
        let disks: Vec<_> = disks.into_iter().collect();
        let mine = Agent::this().pid;
        // What this process has borrowed it gives back before it borrows again, if it can.
        let left = readable(self.all())
            .filter(|record| record.agent.pid == mine || !record.agent.is_there())
            .filter(|record| disks.iter().any(|disk| record.has(disk)));
        for record in left {
            self.clear(&record)?;
        }
        Ok(())
    }

    /// Gives back what somebody else had, and removes what he left there: a sentence on each thing.
    fn clear(&self, record: &Record) -> Result<Vec<String>, DiskError> {
        let left = scratch::sweep_of(record.agent.pid.cast_unsigned(), &record.place);
        let changed = self.give_back(record)?;
        let disks = record.disks.iter().zip(changed).filter(|(_, changed)| *changed);
        let removed = left.iter().map(|path| format!("removed {}", path.display()));
        let put_back = disks.map(|(kept, _)| format!("put back the elevator of {}", kept.disk));
        Ok(removed.chain(put_back).collect())
    }

    /// All of it, whatever becomes of one; whether there was anything to do, by disk.
    pub fn give_back(&self, record: &Record) -> Result<Vec<bool>, DiskError> {
        let ended: Vec<_> = record.disks.iter().map(Kept::put_back).collect();
        let changed = ended.into_iter().collect::<Result<_, _>>()?;
        let _ = fs::remove_file(record.path());
        Ok(changed)
    }

    fn all(&self) -> impl Iterator<Item = Result<Record, DiskError>> + use<> {
        let entries = fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|kind| kind == "json")).map(|path| {
            let read = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
            read.ok_or(DiskError::NoReading { path })
        })
    }
}

impl Record {
    fn has(&self, disk: &str) -> bool {
        self.disks.iter().any(|kept| kept.disk == disk)
    }

    fn path(&self) -> PathBuf {
        Path::new(DIRECTORY).join(format!("{}.json", self.agent.pid))
    }
}

impl Agent {
    fn this() -> Self {
        let pid = std::process::id().cast_signed();
        Self { pid, started: owner::started(pid).expect("this process is there") }
    }

    fn is_there(self) -> bool {
        owner::started(self.pid) == Some(self.started)
    }
}

/// Puts back what agents that are no longer there had borrowed, and removes what they left on it. What cannot be put
/// back is tried again the next time.
pub fn sweep() -> Result<Swept, DiskError> {
    let mut swept = Swept::default();
    if !Path::new(DIRECTORY).exists() {
        return Ok(swept);
    }
    let records = Records::lock()?;
    for record in records.all() {
        let Ok(record) = record.map_err(|error| swept.failures.push(error)) else { continue };
        if record.agent.is_there() {
            continue;
        }
        match records.clear(&record) {
            Ok(done) => swept.done.extend(done),
            Err(error) => swept.failures.push(error),
        }
    }
    Ok(swept)
}

fn readable(all: impl Iterator<Item = Result<Record, DiskError>>) -> impl Iterator<Item = Record> {
    // One that nobody can read is told of by `sweep`.
    all.flatten()
}

fn unwritten(error: io::Error) -> DiskError {
    DiskError::NoRecord { path: DIRECTORY.into(), error }
}
