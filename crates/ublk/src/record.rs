// SPDX-License-Identifier: GPL-2.0-only
//! A file in which a server describes its disk for other processes, and in the end leaves its
//! counts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use machine::owner::Agent;
use machine::state_file::{self, StateFiles};
use serde::{Deserialize, Serialize};

use crate::driver::device::block_name;
use crate::error::DiskError;
use crate::server::account::Counts;

/// A directory that is empty after a boot, when the driver's devices are gone too.
const DIRECTORY: &str = "/run/runoff-disks";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    pub elevator: String,
    /// The elevator's parameters that were given.
    pub parameters: BTreeMap<String, String>,
    pub model: String,
    pub size_mb: u64,
    /// The file with the data; None if they are in memory.
    pub file: Option<PathBuf>,
    pub identity: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    number: u32,
    server: Agent,
    pub disk: Description,
    pub counts: Option<Counts>,
    pub failure: Option<String>,
}

impl Record {
    /// Writes the record of disk `number`, which this process serves.
    pub fn write(number: u32, disk: Description) -> Result<Self, DiskError> {
        let record = Self { number, server: Agent::this(), disk, counts: None, failure: None };
        record.save()?;
        Ok(record)
    }

    /// Leaves the disk's counts, or its error, to the process that removes it.
    pub fn end(mut self, outcome: &Result<Counts, DiskError>) -> Result<(), DiskError> {
        match outcome {
            Ok(counts) => self.counts = Some(*counts),
            Err(error) => self.failure = Some(error.to_string()),
        }
        self.save()
    }

    /// Reads the record of disk `number`; None unless `server` serves it.
    pub fn read(number: u32, server: u32) -> Option<Self> {
        let path = Path::new(DIRECTORY).join(state_file::file(&block_name(number)));
        let record: Self = state_file::read(&path).ok()?;
        record.is_of(server).then_some(record)
    }

    /// The server of disk `number`, from its record.
    pub fn server(number: u32) -> Option<Agent> {
        let path = Path::new(DIRECTORY).join(state_file::file(&block_name(number)));
        state_file::read(&path).ok().map(|record: Self| record.server)
    }

    /// Takes the record of disk `number`, which has ended; the next call finds none. `server` had
    /// it, if that is known.
    pub fn take(number: u32, server: Option<u32>) -> Option<Self> {
        let files = StateFiles::lock(Path::new(DIRECTORY)).ok()?;
        take(&files, number, server)
    }

    pub fn remove(&self) {
        // It is fine if there is no record, or another server's is in its place.
        drop(Self::take(self.number, Some(self.server.pid)));
    }

    fn has_ended(&self) -> bool {
        self.counts.is_some() || self.failure.is_some()
    }

    fn is_of(&self, server: u32) -> bool {
        self.server.pid == server
    }

    fn save(&self) -> Result<(), DiskError> {
        let path = Path::new(DIRECTORY);
        let written = StateFiles::lock(path).and_then(|files| self.save_in(&files));
        written.map_err(|error| DiskError::NoRecord { path: path.into(), error })
    }

    fn save_in(&self, files: &StateFiles) -> io::Result<()> {
        files.write(&block_name(self.number), self)
    }
}

fn take(files: &StateFiles, number: u32, server: Option<u32>) -> Option<Record> {
    let file = state_file::file(&block_name(number));
    let record: Record = files.read(&file).ok()?;
    let is_meant = match server {
        Some(server) => record.is_of(server),
        None => record.has_ended(),
    };
    is_meant.then(|| files.remove(&file)).map(|()| record)
}

/// Deletes the records of servers that were killed. A record of a server that has ended is for the
/// process that removes its disk.
pub fn sweep() {
    let path = Path::new(DIRECTORY);
    if path.exists()
        && let Ok(files) = StateFiles::lock(path)
    {
        sweep_in(&files);
    }
}

fn sweep_in(files: &StateFiles) {
    for file in files.files() {
        let record: Option<Record> = files.read(&file).ok();
        if record.is_none_or(|record| !record.has_ended() && !record.server.is_there()) {
            files.remove(&file);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn record(number: u32) -> Record {
        let disk = Description {
            elevator: "noop".into(),
            parameters: BTreeMap::new(),
            model: "none".into(),
            size_mb: 1,
            file: None,
            identity: "none".into(),
        };
        Record { number, server: Agent::this(), disk, counts: None, failure: None }
    }

    /// A record of a process that was killed.
    fn orphaned(number: u32) -> Record {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        Record { server: Agent { pid: child.id(), started: 1, ..Agent::this() }, ..record(number) }
    }

    #[test]
    fn a_sweep_takes_only_records_that_are_neither_served_nor_ended() {
        let folder = tempfile::tempdir().unwrap();
        let files = StateFiles::lock(folder.path()).unwrap();
        record(0).save_in(&files).unwrap();
        orphaned(1).save_in(&files).unwrap();
        Record { counts: Some(Counts::default()), ..orphaned(2) }.save_in(&files).unwrap();
        Record { failure: Some("it broke".into()), ..orphaned(3) }.save_in(&files).unwrap();
        files.write("ublkb4", &"nonsense").unwrap();
        sweep_in(&files);
        let mut left: Vec<_> = files.files().collect();
        left.sort_unstable();
        assert_eq!(left, ["ublkb0.json", "ublkb2.json", "ublkb3.json"]);
    }

    #[test]
    fn the_record_of_an_ended_server_is_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let files = StateFiles::lock(folder.path()).unwrap();
        record(0).save_in(&files).unwrap();
        assert!(take(&files, 0, None).is_none(), "it is still served");
        assert!(take(&files, 0, Some(u32::MAX)).is_none(), "another serves it");
        Record { counts: Some(Counts::default()), ..record(0) }.save_in(&files).unwrap();
        assert_eq!(take(&files, 0, None).unwrap().counts, Some(Counts::default()));
        assert!(take(&files, 0, None).is_none());
    }
}
