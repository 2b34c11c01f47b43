// SPDX-License-Identifier: GPL-2.0-only
//! Mounts: those of this process are kept apart from the rest of the machine, and those of work
//! from this process.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use procfs::FromRead;
use procfs::process::{MountInfo, MountInfos};

/// Gives this process its own mount namespace: its mounts and those of its children are visible
/// only to them and end with the last of them. Mounts of the rest of the machine are visible here
/// too. Root of a container that may not do this may not mount anything either: then there is
/// nothing to keep apart.
///
/// # Errors
/// The kernel has no room for another mount namespace.
pub fn keep_apart() -> Result<()> {
    static DONE: OnceLock<()> = OnceLock::new();
    if DONE.get().is_some() {
        return Ok(());
    }
    if leave()? {
        let _first = DONE.set(());
    }
    Ok(())
}

/// Gives the calling thread, and those that it starts, mounts of their own; false if it may not.
///
/// # Errors
/// The kernel has no room for another mount namespace.
pub(crate) fn leave() -> Result<bool> {
    match unshare(CloneFlags::CLONE_NEWNS) {
        Err(Errno::EPERM) => return Ok(false),
        other => other.context("cannot keep mounts apart")?,
    }
    let flags = MsFlags::MS_REC | MsFlags::MS_SLAVE;
    mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)
        .context("cannot keep mounts apart")?;
    Ok(true)
}

/// All that is mounted at one moment.
#[derive(Debug, Clone)]
pub struct Mounts(BTreeSet<Mount>);

/// One mount, ordered by when it was mounted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Mount {
    id: i32,
    place: PathBuf,
}

impl Mounts {
    /// The mounts of the calling thread.
    ///
    /// # Errors
    /// /proc/thread-self/mountinfo cannot be read.
    pub fn now() -> Result<Self> {
        Self::listed_in(Path::new("/proc/thread-self/mountinfo"))
    }

    /// The mounts of a thread, by its mountinfo file in /proc.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn listed_in(mountinfo: &Path) -> Result<Self> {
        let seen = MountInfos::from_file(mountinfo).context("cannot see what is mounted")?;
        let mount =
            |info: MountInfo| Mount { id: info.mnt_id, place: unescaped(&info.mount_point) };
        Ok(Self(seen.0.into_iter().map(mount).collect()))
    }

    /// The places of mounts that are not in `before`, the oldest first.
    pub fn since(&self, before: &Self) -> Vec<PathBuf> {
        self.0.difference(&before.0).map(|mount| mount.place.clone()).collect()
    }

    /// The places of all mounts.
    pub fn places(self) -> impl Iterator<Item = PathBuf> {
        self.0.into_iter().map(|mount| mount.place)
    }

    pub fn has(&self, place: &Path) -> bool {
        self.0.iter().any(|mount| mount.place == place)
    }
}

/// Decodes a path of mountinfo, where spaces, tabs, line breaks and backslashes are octal numbers
/// (proc(5)).
pub fn unescaped(path: &Path) -> PathBuf {
    let mut text = path.to_string_lossy().into_owned();
    for (octal, plain) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        text = text.replace(octal, plain);
    }
    text.into()
}
