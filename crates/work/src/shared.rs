// SPDX-License-Identifier: GPL-2.0-only
//! Memory that several processes share.

use std::fs::File;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;

use anyhow::{Context, Result};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, mmap_anonymous};

const READ_AND_WRITE: ProtFlags = ProtFlags::PROT_READ.union(ProtFlags::PROT_WRITE);

/// What can lie in shared memory.
///
/// # Safety
/// All zero is a valid value, and everything in it is atomic.
pub unsafe trait Shared: Sized + Sync + 'static {
    /// Memory that processes forked from now on share. It is all zero, and never given back.
    ///
    /// # Errors
    /// The kernel has no room for it.
    fn create() -> Result<&'static Self> {
        // SAFETY: a new mapping overlaps nothing; it is zero, large enough, aligned to a page and lives on.
        unsafe {
            let memory =
                mmap_anonymous(None, size::<Self>()?, READ_AND_WRITE, MapFlags::MAP_SHARED);
            Ok(memory.context("cannot share memory")?.cast::<Self>().as_ref())
        }
    }

    /// The memory of a file, which is as large, all zero at first, and shared by all that have it.
    ///
    /// # Errors
    /// It cannot be mapped.
    fn of_file(file: &File) -> Result<&'static Self> {
        let size = size::<Self>()?;
        file.set_len(u64::try_from(size.get())?).context("cannot share memory")?;
        // SAFETY: the same; nobody makes the file shorter.
        unsafe {
            let memory = mmap(None, size, READ_AND_WRITE, MapFlags::MAP_SHARED, file.as_fd(), 0);
            Ok(memory.context("cannot share memory")?.cast::<Self>().as_ref())
        }
    }
}

fn size<T>() -> Result<NonZeroUsize> {
    NonZeroUsize::new(size_of::<T>()).context("nothing to share")
}
