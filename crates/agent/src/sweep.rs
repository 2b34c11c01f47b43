// SPDX-License-Identifier: GPL-2.0-only
//! Removes what dead agents have left, in this order: first their work ends, then disks, settings and
//! services become what they were, and last the directories are removed.

use std::path::Path;

use anyhow::Result;
use machine::root::Root;
use machine::stop::Stop;
use machine::{cgroup, loans, removal, scratch, strays};

use settings::SavedFile;

use crate::disk::borrowed::SavedQueue;
use crate::take_over::SavedService;

/// Removes what dead agents have left. `tell` gets a sentence on each thing that is gone; what is
/// still there is returned, and tried again the next time. A stop request leaves the rest.
///
/// # Errors
/// The machine cannot be inspected.
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
    let borrowed = [
        loans::sweep::<SavedQueue>(&root, stop)?,
        loans::sweep::<SavedFile>(&root, stop)?,
        loans::sweep::<SavedService>(&root, stop)?,
    ];
    for swept in borrowed {
        swept.done.into_iter().for_each(&mut *tell);
        stays.extend(swept.failures.iter().map(ToString::to_string));
    }
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
