// SPDX-License-Identifier: GPL-2.0-only
//! The data of the disk: in memory, or in a file. Both are sparse: only written data take room.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr::NonNull;

use nix::libc;
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::error::DiskError;
use crate::server::data_file::DataFile;

/// Direct I/O needs addresses that are multiples of this.
const ALIGN: usize = 4096;
const SECTOR: usize = 512;

pub enum Store {
    Memory(Mapping),
    File { file: File, buffer: Mapping },
}

impl Store {
    pub fn in_memory(bytes: u64) -> Result<Self, DiskError> {
        Mapping::new(bytes).map(Self::Memory).map_err(|error| DiskError::NoMemory { error })
    }

    /// Opens a store in a file; no request is larger than `max_bytes`.
    ///
    /// # Errors
    /// The file's own disk does not move single sectors, or has no such size.
    pub fn in_file(data: &DataFile, bytes: u64, max_bytes: u32) -> Result<Self, DiskError> {
        let path = || data.path.clone();
        let unusable = |error| DiskError::NoData { path: path(), error };
        let mut buffer =
            Mapping::new(u64::from(max_bytes)).map_err(|error| DiskError::NoMemory { error })?;
        let sector = buffer.part(0, SECTOR).map_err(unusable)?;
        move_sector(&data.file, sector).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => DiskError::CoarseSectors { path: path() },
            _ => unusable(error),
        })?;
        let fit = || {
            data.file.set_len(0)?;
            data.file.set_len(bytes)?;
            data.file.try_clone()
        };
        Ok(Self::File { file: fit().map_err(unusable)?, buffer })
    }

    /// Fills the disk from `path`: records of an offset, as 8 bytes with the least first, and the
    /// 4096 bytes that belong there.
    pub fn fill(&mut self, path: &Path) -> Result<(), DiskError> {
        let unreadable = |error| DiskError::NoData { path: path.into(), error };
        let mut file = File::open(path).map(io::BufReader::new).map_err(unreadable)?;
        let mut offset = [0; 8];
        let mut block = [0; ALIGN];
        while file.read_exact(&mut offset).is_ok() {
            file.read_exact(&mut block).map_err(unreadable)?;
            let offset = u64::from_le_bytes(offset);
            self.write_with(offset, ALIGN, |target| {
                target.copy_from_slice(&block);
                Ok(())
            })
            .map_err(unreadable)?;
        }
        Ok(())
    }

    /// Passes `length` bytes from `offset` to `take`.
    pub fn read_with(
        &mut self,
        offset: u64,
        length: usize,
        take: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::Memory(mapping) => take(mapping.part(offset, length)?),
            Self::File { file, buffer } => {
                let part = buffer.part(0, length)?;
                file.read_exact_at(part, offset)?;
                take(part)
            }
        }
    }

    /// Has `give` fill `length` bytes, and writes them at `offset`.
    pub fn write_with(
        &mut self,
        offset: u64,
        length: usize,
        give: impl FnOnce(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::Memory(mapping) => give(mapping.part(offset, length)?),
            Self::File { file, buffer } => {
                let part = buffer.part(0, length)?;
                give(part)?;
                file.write_all_at(part, offset)
            }
        }
    }
}

/// Writes and reads one sector, the smallest unit of a request. It must be written first: a part of
/// a file that was never written can be read in any size.
fn move_sector(file: &File, sector: &mut [u8]) -> io::Result<()> {
    let offset = sector.len() as u64;
    file.write_all_at(sector, offset)?;
    file.read_exact_at(sector, offset)
}

/// Private memory; a page that was never written takes none.
pub struct Mapping {
    start: NonNull<libc::c_void>,
    length: NonZeroUsize,
}

// SAFETY: it owns its memory.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(bytes: u64) -> io::Result<Self> {
        let length = usize::try_from(bytes).ok().and_then(NonZeroUsize::new);
        let length = length.ok_or(io::ErrorKind::InvalidInput)?;
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe {
            mmap_anonymous(None, length, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, flags)?
        };
        Ok(Self { start, length })
    }

    fn part(&mut self, offset: u64, length: usize) -> io::Result<&mut [u8]> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        let end = start.checked_add(length).filter(|end| *end <= self.length.get());
        end.ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: within the mapping, which lives as long as `self` and is borrowed mutably.
        Ok(unsafe {
            std::slice::from_raw_parts_mut(self.start.cast::<u8>().add(start).as_ptr(), length)
        })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nothing borrows it any more.
        let _ = unsafe { munmap(self.start, self.length.get()) };
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use nix::mount::{MntFlags, MsFlags, mount, umount2};

    use super::*;

    const MB: u64 = 1 << 20;

    #[test]
    fn a_new_file_has_only_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFile::create(&folder.path().join("data")).unwrap();
        let mut store = Store::in_file(&data, MB, 1 << 17).unwrap();
        assert_eq!(data.file.metadata().unwrap().len(), MB);
        let mut read = |offset, length| {
            let mut found = Vec::new();
            let taken = store.read_with(offset, length, |data| {
                found.extend_from_slice(data);
                Ok(())
            });
            taken.map(|()| found)
        };
        assert_eq!(read(512, 512).unwrap(), [0; 512]);
        assert_eq!(read(MB - 512, 512).unwrap(), [0; 512]);
        read(MB - 512, 1024).unwrap_err();
    }

    /// A file system on a disk with logical blocks of 4096 bytes, until it is dropped.
    struct Coarse {
        folder: tempfile::TempDir,
        device: String,
    }

    impl Coarse {
        /// A new one; None where there are no loop devices, or not for us.
        fn new() -> Option<Self> {
            let folder = tempfile::tempdir().unwrap();
            let image = folder.path().join("image");
            File::create(&image).unwrap().set_len(32 * MB).unwrap();
            let losetup = Command::new("losetup")
                .args(["--sector-size", "4096", "--find", "--show"])
                .arg(&image)
                .stderr(Stdio::null())
                .output();
            let output = losetup.ok().filter(|output| output.status.success())?;
            let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
            let made = Self { folder, device };
            let formatted =
                Command::new("mkfs.ext4").args(["-q", "-b", "4096", &made.device]).status();
            formatted.ok().filter(std::process::ExitStatus::success)?;
            std::fs::create_dir(made.place()).unwrap();
            let flags = MsFlags::empty();
            mount(Some(&*made.device), &made.place(), Some("ext4"), flags, None::<&str>).ok()?;
            Some(made)
        }

        fn place(&self) -> std::path::PathBuf {
            self.folder.path().join("mounted")
        }
    }

    impl Drop for Coarse {
        fn drop(&mut self) {
            let _ = umount2(&self.place(), MntFlags::MNT_DETACH);
            let _ = Command::new("losetup").args(["--detach", &self.device]).status();
        }
    }

    #[test]
    fn a_disk_of_larger_sectors_is_refused_and_keeps_no_file() {
        let Some(coarse) = Coarse::new() else {
            eprintln!("not tried: it takes root and a loop device");
            return;
        };
        let path = coarse.place().join("data");
        let data = DataFile::create(&path).unwrap();
        let refused = Store::in_file(&data, MB, 1 << 17).err().expect("it is refused");
        assert!(refused.to_string().contains("single sectors of 512 bytes"), "{refused}");
        assert_eq!(refused.exit_code(), 64);
        drop(data);
        assert!(!path.exists());
    }
}
