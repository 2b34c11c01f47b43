// SPDX-License-Identifier: GPL-2.0-only
//! What agents that are no longer there have left goes in this order: first their work ends, then its disks become what
//! they were, and last go the directories.

use std::path::Path;

use anyhow::Result;
use machine::root::Root;
use machine::stop::Stop;
use machine::{cgroup, removal, scratch, strays};

use crate::disk;

/// `tell` hears a sentence on each thing that is gone; what is still there is returned, and tried again the next time.
/// When `stop` is heard the rest is left.
///
/// # Errors
/// The machine cannot be looked at.
pub fn all(stop: Option<&Stop>, tell: &mut dyn FnMut(String)) -> Result<Vec<String>> {
    let root = Root::machine();
    let mut stays = Vec::new();
    let is_over = || stop.is_some_and(Stop::requested);
    for cgroup in cgroup::left_behind(&root)? {
        if is_over() {
            return Ok(stays);
        }
        note(cgroup.path(), cgroup.remove(), tell, &mut stays);
    }
    match strays::end_left_behind() {
        Ok(ended) => ended.iter().for_each(|stray| tell(format!("ended {stray}"))),
        Err(error) => stays.push(format!("{error:#}")),
    }
    if is_over() {
        return Ok(stays);
    }
    let borrowed = disk::borrowed::sweep(stop)?;
    borrowed.done.into_iter().for_each(&mut *tell);
    stays.extend(borrowed.failures.iter().map(ToString::to_string));
    for device in ublk::sweep()? {
        tell(format!("removed {}", device.display()));
    }
    for directory in scratch::left_behind(&root)? {
        if is_over() {
            break;
        }
        note(&directory, removal::remove(&directory).map_err(Into::into), tell, &mut stays);
    }
    Ok(stays)
}

fn note(what: &Path, removed: Result<()>, tell: &mut dyn FnMut(String), stays: &mut Vec<String>) {
    match removed {
        Ok(()) => tell(format!("removed {}", what.display())),
        Err(error) => stays.push(format!("{} stays: {error:#}", what.display())),
    }
}
