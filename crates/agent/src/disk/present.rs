// SPDX-License-Identifier: GPL-2.0-only
//! The disks of runoff that are there, whoever serves them; and how one is taken away.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde::Serialize;

use super::HURRY;
use super::account::Counts;
use super::control::{self, Control};
use super::error::DiskError;
use super::process::ServerProcess;
use super::record::{Description, Record};
use super::users::{self, Users};

/// What a server may take to end; a file system that is mounted is first written out by the kernel.
const END_LIMIT: Duration = Duration::from_secs(60);
/// A server that finds its disk in use wants to hear it twice.
const INSIST: Duration = Duration::from_millis(300);
/// Who looks at every new block device, as udev does, has done so after this time.
const GLANCE: Duration = Duration::from_secs(2);

#[derive(Debug, Serialize)]
pub struct Present {
    #[serde(skip)]
    number: u32,
    #[serde(skip)]
    marked: u32,
    pub device: PathBuf,
    /// The process; none if it is gone.
    server: Option<u32>,
    /// None if the server has not told yet.
    disk: Option<Description>,
    users: Users,
}

#[derive(Debug, Serialize)]
pub struct Removed {
    device: PathBuf,
    disk: Option<Description>,
    /// None if the server was gone, which alone knew them.
    counts: Option<Counts>,
}

/// In order of their numbers.
pub fn all() -> Result<Vec<Present>, DiskError> {
    let found = control::ours()?;
    Ok(found.into_iter().map(|(number, server)| Present::new(number, server)).collect())
}

/// Takes `device` away and tells what it has done.
///
/// # Errors
/// It is no disk of runoff, or is in use and `force` is not given: then nothing has been changed.
pub fn remove(device: &str, force: bool) -> Result<Removed, DiskError> {
    let present = find(device)?;
    if !force && let Some(users) = users_that_stay(present.number) {
        return Err(DiskError::InUse { device: device.into(), users });
    }
    match ServerProcess::find(present.marked) {
        Some(server) => present.end(&server, force)?,
        None => Control::open()?.take_away(present.number)?,
    }
    let record = Record::read(present.number, present.marked);
    record.iter().for_each(Record::remove);
    let (counts, failure) = record.map_or((None, None), |record| (record.counts, record.failure));
    match failure {
        Some(reason) => Err(DiskError::EndedBadly { device: device.into(), reason }),
        None => Ok(Removed { device: present.device, disk: present.disk, counts }),
    }
}

impl Present {
    fn new(number: u32, marked: u32) -> Self {
        Self {
            number,
            marked,
            device: control::block_device(number),
            server: ServerProcess::find(marked).map(|_| marked),
            disk: Record::read(number, marked).map(|record| record.disk),
            users: Users::of(number),
        }
    }

    fn end(&self, server: &ServerProcess, force: bool) -> Result<(), DiskError> {
        if force {
            // Whatever the kernel still writes takes none of the model's time.
            let _ = server.signal(HURRY);
        }
        let start = Instant::now();
        // A server that has just ended by itself has done what was wanted.
        let _ = server.signal(Signal::SIGTERM);
        while !server.ended_within(INSIST) {
            if force {
                let _ = server.signal(Signal::SIGTERM);
            } else if users::is_claimed(self.number) {
                let users = Users::of(self.number);
                return Err(DiskError::InUse { device: self.device.display().to_string(), users });
            }
            if start.elapsed() > END_LIMIT {
                return Err(DiskError::Lingers {
                    device: self.device.clone(),
                    server: self.marked,
                });
            }
        }
        Ok(())
    }
}

/// By its path or its name.
fn find(device: &str) -> Result<Present, DiskError> {
    let name = device.strip_prefix("/dev/").unwrap_or(device);
    let number: Option<u32> = name.strip_prefix("ublkb").and_then(|number| number.parse().ok());
    let ours = control::ours()?;
    let found = ours.into_iter().find(|(ours, _)| Some(*ours) == number);
    let (number, server) = found.ok_or_else(|| DiskError::NotOurs { device: device.into() })?;
    Ok(Present::new(number, server))
}

/// Those that are still there after a glance.
fn users_that_stay(number: u32) -> Option<Users> {
    let start = Instant::now();
    loop {
        let users = Users::of(number);
        if users.is_empty() {
            return None;
        }
        if !users.mounted_on.is_empty() || start.elapsed() > GLANCE {
            return Some(users);
        }
        sleep(INSIST);
    }
}
