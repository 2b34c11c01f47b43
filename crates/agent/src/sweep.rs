// SPDX-License-Identifier: GPL-2.0-only
//! What agents that are no longer there have left goes in this order: first their work ends, then its disks become what
//! they were, and last go the directories.

use std::path::PathBuf;

use anyhow::Result;

use crate::disk::{self, DiskError};
use crate::{cgroup, scratch};

/// `tell` hears a sentence on each thing; what could not be put back is tried again the next time.
pub fn all(tell: &mut dyn FnMut(String)) -> Result<Vec<DiskError>> {
    let removed = |path: PathBuf| format!("removed {}", path.display());
    cgroup::sweep()?.into_iter().map(removed).for_each(&mut *tell);
    let borrowed = disk::borrowed::sweep()?;
    borrowed.done.into_iter().for_each(&mut *tell);
    disk::sweep()?.into_iter().map(removed).for_each(&mut *tell);
    scratch::sweep()?.into_iter().map(removed).for_each(&mut *tell);
    Ok(borrowed.failures)
}
