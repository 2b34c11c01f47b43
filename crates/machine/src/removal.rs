// SPDX-License-Identifier: GPL-2.0-only
//! Removes a directory with all that is in it, however deep, and nothing else: no link is followed,
//! no mount point crossed.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, renameat,
    unlinkat,
};
use rustix::io::Errno;

/// Removes `directory`, which need not exist; anything else in its place is removed itself.
///
/// Directories inside are first moved up beside each other, so that neither the depth of a tree nor the length of its
/// paths matters.
///
/// # Errors
/// Something in it stays, such as a mount point or an immutable file; all else is gone.
pub fn remove(directory: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let name = CString::new(name.as_bytes())?;
    let parent = match openat(CWD, parent, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    let mut top = match open(&parent, &name) {
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::LOOP | Errno::NOTDIR) => {
            return unlinkat(&parent, &name, AtFlags::empty()).map_err(|error| stays(&name, error));
        }
        other => Top { directory: other.map_err(|error| stays(&name, error))?, lifted: 0 },
    };
    while let Some(left) = top.round()? {
        if let Some((entry, error)) = left {
            return Err(stays(&entry, error));
        }
    }
    unlinkat(&parent, &name, AtFlags::REMOVEDIR).map_err(|error| stays(&name, error))
}

fn stays(name: &CStr, error: Errno) -> io::Error {
    let why = match error {
        Errno::XDEV | Errno::BUSY => "something is mounted there".into(),
        Errno::LOOP | Errno::NOTDIR => "it is not a directory".into(),
        error => io::Error::from(error).to_string(),
    };
    io::Error::other(format!("{} stays: {why}", name.to_string_lossy()))
}

/// The directory that is removed.
struct Top {
    directory: OwnedFd,
    /// How many names were given to directories that were moved up.
    lifted: u64,
}

impl Top {
    /// Removes its content, but moves up directories that are two levels below. None if the
    /// directory is empty; else an entry that stays, if none was moved up.
    fn round(&mut self) -> io::Result<Option<Option<(CString, Errno)>>> {
        let found = entries(&self.directory)?;
        if found.is_empty() {
            return Ok(None);
        }
        let (mut stays, mut has_moved) = (None, false);
        for (name, kind) in found {
            let removed = match kind {
                FileType::Directory => self.lift_from(&name, &mut has_moved),
                _ => unlinkat(&self.directory, &name, AtFlags::empty()),
            };
            match removed {
                Err(error) if error != Errno::NOENT => stays = Some((name, error)),
                _ => {}
            }
        }
        Ok(Some(stays.filter(|_| !has_moved)))
    }

    /// Removes the directory `name` and the files in it; directories in it are moved up.
    fn lift_from(&mut self, name: &CStr, has_moved: &mut bool) -> Result<(), Errno> {
        let from = open(&self.directory, name)?;
        let mut stays = Ok(());
        for (entry, kind) in entries(&from)? {
            let gone = match kind {
                FileType::Directory => self.lift(&from, &entry).inspect(|()| *has_moved = true),
                _ => unlinkat(&from, &entry, AtFlags::empty()),
            };
            match gone {
                Err(error) if error != Errno::NOENT => stays = Err(error),
                _ => {}
            }
        }
        stays?;
        unlinkat(&self.directory, name, AtFlags::REMOVEDIR)
    }

    /// Moves a directory up to a new name: an empty directory is made first, which the other then
    /// replaces.
    fn lift(&mut self, from: &OwnedFd, entry: &CStr) -> Result<(), Errno> {
        loop {
            let name = format!("runoff-lifted-{}", self.lifted);
            self.lifted += 1;
            match mkdirat(&self.directory, &name, Mode::RWXU) {
                Err(Errno::EXIST) => continue,
                made => made?,
            }
            return renameat(from, entry, &self.directory, &name).inspect_err(|_| {
                let _empty = unlinkat(&self.directory, &name, AtFlags::REMOVEDIR);
            });
        }
    }
}

pub(crate) const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a directory itself: no link is followed, no mount entered (openat2(2), Linux 5.6).
fn open(at: &OwnedFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let stay = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    openat2(at, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty(), stay)
}

pub(crate) fn entries(directory: &OwnedFd) -> Result<Vec<(CString, FileType)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_bytes() != b"." && name.to_bytes() != b".." {
            let kind = match entry.file_type() {
                FileType::Unknown => kind(directory, name)?,
                kind => kind,
            };
            found.push((name.to_owned(), kind));
        }
    }
    Ok(found)
}

fn kind(directory: &OwnedFd, name: &CStr) -> Result<FileType, Errno> {
    let about = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(about.st_mode))
}
