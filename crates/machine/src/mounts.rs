// SPDX-License-Identifier: GPL-2.0-only
//! What is mounted: what this process sees, kept apart from the rest of the machine, and what work sees, kept apart from
//! this process.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use procfs::FromRead;
use procfs::process::{MountInfo, MountInfos};

/// From now on what is mounted by this process and those that it starts is there for them alone, and goes with the last
/// of them. What the rest of the machine mounts is seen here too. Root of a container that may not do this may not mount
/// anything either, and nor may what it starts: then there is nothing to keep apart.
///
/// # Errors
/// The kernel has no room for it.
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

/// The calling thread, and those that it starts, have mounts of their own from now on; false if it may not.
///
/// # Errors
/// The kernel has no room for it.
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

/// In the order in which they were mounted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Mount {
    id: i32,
    place: PathBuf,
}

impl Mounts {
    /// Those of the calling thread.
    ///
    /// # Errors
    /// /proc/thread-self/mountinfo cannot be read.
    pub fn now() -> Result<Self> {
        Self::listed_in(Path::new("/proc/thread-self/mountinfo"))
    }

    /// Those of a thread, by its file in /proc.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn listed_in(mountinfo: &Path) -> Result<Self> {
        let seen = MountInfos::from_file(mountinfo).context("cannot see what is mounted")?;
        let mount =
            |info: MountInfo| Mount { id: info.mnt_id, place: unescaped(&info.mount_point) };
        Ok(Self(seen.0.into_iter().map(mount).collect()))
    }

    /// Where something is mounted that was not when `before` was seen, the first first.
    pub fn since(&self, before: &Self) -> Vec<PathBuf> {
        self.0.difference(&before.0).map(|mount| mount.place.clone()).collect()
    }

    /// Where something is mounted.
    pub fn places(self) -> impl Iterator<Item = PathBuf> {
        self.0.into_iter().map(|mount| mount.place)
    }

    pub fn has(&self, place: &Path) -> bool {
        self.0.iter().any(|mount| mount.place == place)
    }
}

/// Spaces, tabs, line breaks and backslashes of a path are octal numbers there (proc(5)).
pub fn unescaped(path: &Path) -> PathBuf {
    let mut text = path.to_string_lossy().into_owned();
    for (octal, plain) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        text = text.replace(octal, plain);
    }
    text.into()
}
