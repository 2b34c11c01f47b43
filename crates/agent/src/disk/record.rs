// SPDX-License-Identifier: GPL-2.0-only
//! What a server tells the rest of the machine of its disk, in a file: what it is, and in the end what it has done.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::account::Counts;
use super::error::DiskError;
use super::process;
use super::setup::Setup;

/// Empty after a boot, as the driver's devices are gone then too.
const DIRECTORY: &str = "/run/runoff-disks";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    pub elevator: String,
    /// Those that were given.
    pub parameters: BTreeMap<String, String>,
    pub model: String,
    pub size_mb: u64,
    /// Memory has the data without it.
    pub file: Option<PathBuf>,
    pub identity: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    #[serde(skip)]
    path: PathBuf,
    server: u32,
    pub disk: Description,
    pub counts: Option<Counts>,
    pub failure: Option<String>,
}

impl Description {
    pub fn new(setup: &Setup, parameters: &[String], model: &str) -> Self {
        let pairs = parameters.iter().filter_map(|pair| pair.split_once('='));
        Self {
            elevator: setup.elevator_name().into(),
            parameters: pairs.map(|(key, value)| (key.into(), value.into())).collect(),
            model: model.into(),
            size_mb: setup.size_mb(),
            file: setup.file.clone(),
            identity: setup.identity().into(),
        }
    }
}

impl Record {
    /// Of disk `number`, which this process serves.
    pub fn write(number: u32, disk: Description) -> Result<Self, DiskError> {
        let server = std::process::id();
        let record = Self { path: path(number), server, disk, counts: None, failure: None };
        fs::create_dir_all(DIRECTORY).map_err(|error| record.unwritten(error))?;
        record.save()?;
        Ok(record)
    }

    /// Leaves what the disk has done to whoever removes it.
    pub fn end(mut self, outcome: &Result<Counts, DiskError>) -> Result<(), DiskError> {
        match outcome {
            Ok(counts) => self.counts = Some(*counts),
            Err(error) => self.failure = Some(error.to_string()),
        }
        self.save()
    }

    /// That of disk `number` as long as `server` serves it.
    pub fn read(number: u32, server: u32) -> Option<Self> {
        let path = path(number);
        let record: Self = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        (record.server == server).then_some(Self { path, ..record })
    }

    pub fn remove(&self) {
        // Another than this server's has taken its place, or there is none: both are well.
        let _ = fs::remove_file(&self.path);
    }

    fn save(&self) -> Result<(), DiskError> {
        let text = serde_json::to_vec(self).expect("numbers and text are JSON");
        // Whoever reads meanwhile sees all or nothing.
        let part = self.path.with_extension("part");
        fs::write(&part, text)
            .and_then(|()| fs::rename(&part, &self.path))
            .map_err(|error| self.unwritten(error))
    }

    fn unwritten(&self, error: io::Error) -> DiskError {
        DiskError::NoRecord { path: self.path.clone(), error }
    }
}

/// Deletes those of servers that are no longer there.
pub fn sweep() {
    let entries = fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let record = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        if record.is_none_or(|record: Record| !process::serves(record.server)) {
            let _ = fs::remove_file(path);
        }
    }
}

fn path(number: u32) -> PathBuf {
    Path::new(DIRECTORY).join(format!("ublkb{number}.json"))
}
