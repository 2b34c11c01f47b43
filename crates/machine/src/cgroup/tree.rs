// SPDX-License-Identifier: GPL-2.0-only
//! A control group's directory, its files and nested groups. Each is opened from the one above and
//! not by a path, because something may be mounted over a path.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use crate::removal::{DIRECTORY, entries};

/// Calls `look` with every directory below `directory`, and then with itself.
pub fn visit(directory: &OwnedFd, look: &mut impl FnMut(&OwnedFd)) {
    for name in nested(directory) {
        if let Ok(inner) = openat(directory, &name, DIRECTORY, Mode::empty()) {
            visit(&inner, look);
        }
    }
    look(directory);
}

/// Removes all cgroups below `directory`, which is at `path`.
///
/// # Errors
/// The path of one that stays, and why.
pub fn remove_below(directory: &OwnedFd, path: &Path) -> Result<(), (PathBuf, Errno)> {
    for name in nested(directory) {
        let path = path.join(OsStr::from_bytes(name.as_bytes()));
        let gone = match openat(directory, &name, DIRECTORY, Mode::empty()) {
            Ok(inner) => {
                remove_below(&inner, &path)?;
                unlinkat(directory, &name, AtFlags::REMOVEDIR)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = gone
            && error != Errno::NOENT
        {
            return Err((path, error));
        }
    }
    Ok(())
}

/// The names of the cgroups in `directory`; none if it is gone.
pub fn nested(directory: &OwnedFd) -> Vec<CString> {
    let entries = entries(directory).unwrap_or_default();
    entries
        .into_iter()
        .filter(|(_, kind)| *kind == FileType::Directory)
        .map(|(name, _)| name)
        .collect()
}

/// Opens the file `name`.
///
/// # Errors
/// The cgroup is gone, or has no such file.
pub fn file(directory: &OwnedFd, name: &str, flags: OFlags) -> io::Result<File> {
    Ok(openat(directory, name, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?.into())
}

/// Reads the file `name`.
///
/// # Errors
/// The same as for [`file`].
pub fn read(directory: &OwnedFd, name: &str) -> io::Result<String> {
    io::read_to_string(file(directory, name, OFlags::RDONLY)?)
}
