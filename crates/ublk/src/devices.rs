// SPDX-License-Identifier: GPL-2.0-only
//! Lists the disks of runoff, whichever process serves them, and removes one.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::driver::control::{self, Control};
use crate::driver::device::{HURRY, block_device};
use crate::error::DiskError;
use crate::process::{INSIST, Served, ServerProcess};
use crate::record::{self, Description, Record};
use crate::server::account::Counts;
use crate::users::{self, Users};

/// Time limit for a server to end; the kernel first writes out a mounted file system.
const END_LIMIT: Duration = Duration::from_secs(60);
/// Time after which programs that look at every new block device, such as udev, have done so.
const GLANCE: Duration = Duration::from_secs(2);

#[derive(Debug, Serialize)]
pub struct Present {
    #[serde(skip)]
    number: u32,
    #[serde(skip)]
    marked: u32,
    pub device: PathBuf,
    /// The number of its server in that process's own PID namespace; None if it is gone.
    server: Option<u32>,
    /// The server's description of the disk; None if there is none yet.
    disk: Option<Description>,
    users: Users,
}

#[derive(Debug, Serialize)]
pub struct Removed {
    device: PathBuf,
    disk: Option<Description>,
    /// The counts of the disk; None if the server, which had them, was gone.
    counts: Option<Counts>,
}

/// The disks of runoff, in order of their numbers.
pub fn all() -> Result<Vec<Present>, DiskError> {
    let found = control::ours()?;
    Ok(found.into_iter().map(|(number, server)| Present::new(number, server)).collect())
}

/// Removes `device` and returns its counts.
///
/// # Errors
/// `device` is not a disk of runoff, or is in use and `force` is not given: then nothing has been changed.
pub fn remove(device: &str, force: bool) -> Result<Removed, DiskError> {
    let present = match find(device) {
        Err(DiskError::NotOurs { .. }) => return ended(device),
        found => found?,
    };
    if !force && let Some(users) = users_that_stay(present.number) {
        return Err(DiskError::InUse { device: device.into(), users: users.to_string() });
    }
    match present.served() {
        Served::By(server) => present.end(&server, force)?,
        Served::ByNobody => Control::open()?.take_away(present.number)?,
        Served::Elsewhere => {
            let (device, server) = (device.into(), present.marked);
            return Err(DiskError::ServedElsewhere { device, server });
        }
    }
    let record = Record::take(present.number, Some(present.marked));
    let Some(Record { counts, failure, .. }) = record else {
        return Ok(Removed { device: present.device, disk: present.disk, counts: None });
    };
    removed(present.device, present.disk, counts, failure)
}

/// Deletes devices of runoff whose server was killed, and returns their paths. A device whose
/// server may be in another PID namespace is left alone.
///
/// # Errors
/// The driver is not there, or this process may not use it.
pub fn sweep() -> Result<Vec<PathBuf>, DiskError> {
    let gone: Vec<u32> = control::ours()?
        .into_iter()
        .filter(|(number, server)| {
            matches!(Served::of(*server, Record::server(*number)), Served::ByNobody)
        })
        .map(|(number, _)| number)
        .collect();
    if !gone.is_empty() {
        let mut control = Control::open()?;
        gone.iter().try_for_each(|number| control.take_away(*number))?;
    }
    record::sweep();
    Ok(gone.into_iter().map(block_device).collect())
}

/// The counts of a device that has gone already because its server ended by itself.
fn ended(device: &str) -> Result<Removed, DiskError> {
    let not_ours = || DiskError::NotOurs { device: device.into() };
    let number = number(device).ok_or_else(not_ours)?;
    let path = block_device(number);
    let record = if path.exists() { None } else { Record::take(number, None) };
    let Record { disk, counts, failure, .. } = record.ok_or_else(not_ours)?;
    removed(path, Some(disk), counts, failure)
}

fn removed(
    device: PathBuf,
    disk: Option<Description>,
    counts: Option<Counts>,
    failure: Option<String>,
) -> Result<Removed, DiskError> {
    match failure {
        Some(reason) => Err(DiskError::EndedBadly { device: device.display().to_string(), reason }),
        None => Ok(Removed { device, disk, counts }),
    }
}

impl Present {
    fn new(number: u32, marked: u32) -> Self {
        let mut present = Self {
            number,
            marked,
            device: block_device(number),
            server: None,
            disk: Record::read(number, marked).map(|record| record.disk),
            users: Users::of(number),
        };
        let is_served = !matches!(present.served(), Served::ByNobody);
        present.server = is_served.then_some(marked);
        present
    }

    fn served(&self) -> Served {
        Served::of(self.marked, Record::server(self.number))
    }

    fn end(&self, server: &ServerProcess, force: bool) -> Result<(), DiskError> {
        if force {
            // Data that the kernel still writes takes none of the model's time.
            server.signal(HURRY);
        }
        let is_done = |span| {
            let has_ended = server.ended_within(span);
            if !has_ended && !force && users::is_claimed(self.number) {
                let (device, users) = (self.device.display(), Users::of(self.number));
                return Err(DiskError::InUse {
                    device: device.to_string(),
                    users: users.to_string(),
                });
            }
            Ok(has_ended)
        };
        if server.ask_to_end(END_LIMIT, is_done)? {
            return Ok(());
        }
        Err(DiskError::Lingers { device: self.device.clone(), server: self.marked })
    }
}

/// Finds a disk by its path or its name.
fn find(device: &str) -> Result<Present, DiskError> {
    let wanted = number(device);
    let ours = control::ours()?;
    let found = ours.into_iter().find(|(ours, _)| Some(*ours) == wanted);
    let (number, server) = found.ok_or_else(|| DiskError::NotOurs { device: device.into() })?;
    Ok(Present::new(number, server))
}

fn number(device: &str) -> Option<u32> {
    let name = device.strip_prefix("/dev/").unwrap_or(device);
    name.strip_prefix("ublkb")?.parse().ok()
}

/// The users that are still there after `GLANCE`.
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
