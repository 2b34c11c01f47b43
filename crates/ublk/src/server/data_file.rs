// SPDX-License-Identifier: GPL-2.0-only
//! The file that holds a disk's data: made for the disk, and removed again if the disk cannot be
//! made.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, fcntl_setfl, open, openat, unlinkat};

use crate::error::DiskError;

pub struct DataFile {
    pub path: PathBuf,
    /// The file, opened past the page cache, which would be a second cache below the first.
    pub file: File,
    /// The directory of the file: the path may lead elsewhere when the file has to be removed.
    directory: File,
    is_kept: bool,
}

impl DataFile {
    /// Makes the file, empty.
    ///
    /// # Errors
    /// Something is there, even a link that leads nowhere, or the file cannot be made. Then none is
    /// made.
    pub fn create(path: &Path) -> Result<Self, DiskError> {
        let unusable = |error| match error {
            rustix::io::Errno::EXIST => DiskError::FileThere { path: path.into() },
            error => DiskError::NoData { path: path.into(), error: error.into() },
        };
        let name = path.file_name().ok_or(unusable(rustix::io::Errno::ISDIR))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = open(parent.unwrap_or(Path::new(".")), flags, Mode::empty());
        let directory = directory.map_err(unusable)?;
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&directory, name, flags, Mode::RUSR | Mode::WUSR).map_err(unusable)?;
        let (file, directory) = (File::from(file), File::from(directory));
        // From here on, dropping it removes the file.
        let made = Self { path: path.into(), file, directory, is_kept: false };
        // Not when the file is opened: if the flag were refused the file would still have been
        // made.
        fcntl_setfl(&made.file, OFlags::DIRECT).map_err(unusable)?;
        Ok(made)
    }

    /// Keeps the file, because its disk has been announced.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }

    fn remove(&self) -> io::Result<()> {
        let name = self.path.file_name().unwrap_or_default();
        Ok(unlinkat(&self.directory, name, AtFlags::empty())?)
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        if !self.is_kept
            && let Err(error) = self.remove()
        {
            eprintln!("runoff-agent: cannot remove {}: {error}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn refusal(path: &Path) -> String {
        let error = DataFile::create(path).err().expect("it is refused");
        assert_eq!(error.exit_code(), 64);
        error.to_string()
    }

    #[test]
    fn an_existing_file_keeps_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::write(&path, "precious").unwrap();
        assert!(refusal(&path).contains("is there already"));
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }

    #[test]
    fn no_link_is_followed_wherever_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("data"), folder.path().join("target"));
        symlink(&target, &link).unwrap();
        assert!(refusal(&link).contains("is there already"));
        assert!(!target.exists());
        fs::write(&target, "precious").unwrap();
        assert!(refusal(&link).contains("is there already"));
        assert_eq!(fs::read(&target).unwrap(), b"precious");
        assert!(link.symlink_metadata().unwrap().is_symlink());
    }

    #[test]
    fn the_file_is_removed_unless_its_disk_was_announced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        drop(DataFile::create(&path).unwrap());
        assert!(!path.exists());
        let mut made = DataFile::create(&path).unwrap();
        made.keep();
        drop(made);
        assert!(path.exists());
    }

    #[test]
    fn a_failure_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(refusal(&folder.path().join("no/such")).contains("No such file"));
        refusal(Path::new("/"));
        refusal(Path::new("/proc/data"));
    }
}
