// SPDX-License-Identifier: GPL-2.0-only
//! A table in shared memory that the kernel writes and this process reads.

use std::io;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::ptr::NonNull;

use nix::libc::{c_void, off_t};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use zerocopy::FromBytes;

/// The size of a mapping is a multiple of this.
const PAGE: usize = 4096;

/// `count` entries of `T`, for which all bytes are valid.
pub struct Shared<T> {
    start: NonNull<c_void>,
    count: usize,
    bytes: NonZeroUsize,
    entries: PhantomData<T>,
}

impl<T: FromBytes> Shared<T> {
    /// Maps the entries at `offset` of `file`.
    pub fn map(file: &impl AsFd, offset: off_t, count: usize) -> io::Result<Self> {
        let bytes = size_of::<T>().checked_mul(count).and_then(NonZeroUsize::new);
        let bytes = bytes.and_then(|bytes| bytes.get().checked_next_multiple_of(PAGE));
        let bytes = bytes.and_then(NonZeroUsize::new).ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start =
            unsafe { mmap(None, bytes, ProtFlags::PROT_READ, MapFlags::MAP_SHARED, file, offset)? };
        Ok(Self { start, count, bytes, entries: PhantomData })
    }

    /// The entry as it is now: the kernel must not be writing it.
    pub fn read(&self, index: usize) -> T {
        assert!(index < self.count, "a table of {} has no entry {index}", self.count);
        // SAFETY: within the mapping, which begins at a page and lives as long as `self`; every pattern of bytes is a
        // value of T.
        unsafe { self.start.cast::<T>().add(index).read_volatile() }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: nothing reads it any more.
        let _ = unsafe { munmap(self.start, self.bytes.get()) };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn numbers() -> std::fs::File {
        let mut file = tempfile::tempfile().unwrap();
        (0..2000_u32).for_each(|number| file.write_all(&number.to_ne_bytes()).unwrap());
        file
    }

    #[test]
    fn entries_are_those_of_the_file() {
        let table: Shared<u32> = Shared::map(&numbers(), 4096, 900).unwrap();
        assert_eq!((table.read(0), table.read(899)), (1024, 1923));
    }

    #[test]
    #[should_panic(expected = "a table of 900 has no entry 900")]
    fn there_is_no_entry_beyond_the_last() {
        let table: Shared<u32> = Shared::map(&numbers(), 0, 900).unwrap();
        table.read(900);
    }

    #[test]
    fn no_table_is_empty_or_larger_than_memory() {
        let file = numbers();
        assert!(Shared::<u32>::map(&file, 0, 0).is_err());
        assert!(Shared::<u32>::map(&file, 0, usize::MAX).is_err());
        assert!(Shared::<u32>::map(&file, 0, usize::MAX / 4).is_err());
    }
}
