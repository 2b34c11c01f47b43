// SPDX-License-Identifier: GPL-2.0-only
//! What is on the disk: in memory, or in a file. Both are sparse: only what was written takes room.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::NonNull;

use nix::libc;
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::error::DiskError;

/// What direct I/O wants addresses to be multiples of.
const ALIGN: usize = 4096;

pub enum Store {
    Memory(Mapping),
    /// Written past the page cache, which would be a second cache below the first.
    File {
        file: File,
        buffer: Mapping,
    },
}

impl Store {
    pub fn in_memory(bytes: u64) -> Result<Self, DiskError> {
        Mapping::new(bytes).map(Self::Memory).map_err(|error| DiskError::NoMemory { error })
    }

    /// Empties the file first. No request is larger than `max_bytes`.
    pub fn in_file(path: &Path, bytes: u64, max_bytes: u32) -> Result<Self, DiskError> {
        let open = || {
            let file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .custom_flags(libc::O_DIRECT)
                .open(path)?;
            file.set_len(bytes)?;
            Ok(file)
        };
        let file = open().map_err(|error| DiskError::NoData { path: path.into(), error })?;
        let buffer =
            Mapping::new(u64::from(max_bytes)).map_err(|error| DiskError::NoMemory { error })?;
        Ok(Self::File { file, buffer })
    }

    /// Puts what `path` holds on the disk: records of an offset, as 8 bytes with the least first,
    /// and the 4096 bytes that belong there.
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

    /// Hands `length` bytes from `offset` to `take`.
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

    /// Has `give` fill `length` bytes and puts them at `offset`.
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
