// SPDX-License-Identifier: GPL-2.0-only
//! What the programs in the kernel write of each tag, in this process's memory.

use std::num::NonZeroUsize;
use std::ptr::NonNull;

use anyhow::{Context as _, Result, ensure};
use libbpf_rs::MapCore;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

use super::Origin;

/// `struct origin`, as the map has it: a multiple of 8 bytes.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    asked_ns: u64,
    task: u32,
    cpu: u32,
    priority: u16,
    sync: u16,
    comm: [u8; 16],
}

/// By tag.
pub struct Origins {
    start: NonNull<Written>,
    tags: usize,
    bytes: NonZeroUsize,
}

impl Origins {
    /// Of a map with BPF_F_MMAPABLE.
    ///
    /// # Errors
    /// It is another one.
    pub fn of(map: &impl MapCore) -> Result<Self> {
        ensure!(map.key_size() == 4, "origins are not by tag");
        let found = usize::try_from(map.value_size())?;
        ensure!(found.next_multiple_of(8) == size_of::<Written>(), "an origin has {found} bytes");
        let tags = usize::try_from(map.max_entries())?;
        let bytes = (tags * size_of::<Written>()).next_multiple_of(4096);
        let bytes = NonZeroUsize::new(bytes).context("there are no origins")?;
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start =
            unsafe { mmap(None, bytes, ProtFlags::PROT_READ, MapFlags::MAP_SHARED, map, 0) };
        Ok(Self { start: start.context("origins cannot be read")?.cast(), tags, bytes })
    }

    /// Who submitted the request that `tag` stands for now.
    pub fn of_tag(&self, tag: u16) -> Origin {
        let index = usize::from(tag);
        assert!(index < self.tags, "a queue has no more tags than the map");
        // SAFETY: within the mapping. It was written before the driver had the request, and is not written again
        // before the driver has the answer.
        let written = unsafe { self.start.add(index).read_volatile() };
        let Written { asked_ns, task, cpu, priority, sync, comm } = written;
        Origin { asked_ns, task, cpu, priority, sync: sync != 0, comm }
    }
}

impl Drop for Origins {
    fn drop(&mut self) {
        // SAFETY: nothing reads it any more.
        let _ = unsafe { munmap(self.start.cast(), self.bytes.get()) };
    }
}
