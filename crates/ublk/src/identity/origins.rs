// SPDX-License-Identifier: GPL-2.0-only
//! The origins that the programs in the kernel write for each tag, in shared memory.

use anyhow::{Context as _, Result, ensure};
use elevators::Context;
use libbpf_rs::MapCore;
use zerocopy::FromBytes;

use crate::driver::shared::Shared;

/// Where a request comes from.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// When it was submitted, by CLOCK_MONOTONIC; 0 if that is not known.
    pub asked_ns: u64,
    pub task: u32,
    pub cpu: u32,
    /// Class and level, as ioprio_set(2) encodes them.
    pub priority: u16,
    /// Whether a process waits for it, if it is a write.
    pub sync: bool,
    /// The task's name, padded with zeros, if names are wanted.
    pub comm: [u8; 16],
}

impl Origin {
    /// The task, as elevators know it; each thread is one of its own.
    pub fn context(self) -> Context {
        self.task.into()
    }

    /// When it was submitted, by CLOCK_MONOTONIC; None if that is not known.
    pub fn asked(self) -> Option<u64> {
        (self.asked_ns > 0).then_some(self.asked_ns)
    }
}

/// `struct origin`, as in the map: a multiple of 8 bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy, FromBytes)]
struct Written {
    asked_ns: u64,
    task: u32,
    cpu: u32,
    priority: u16,
    sync: u16,
    comm: [u8; 16],
    /// The map's values are multiples of 8 bytes.
    _padding: u32,
}

/// The origin of each tag.
pub struct Origins {
    written: Shared<Written>,
}

impl Origins {
    /// Maps `map`, which has BPF_F_MMAPABLE.
    ///
    /// # Errors
    /// The map has no origins.
    pub fn of(map: &impl MapCore) -> Result<Self> {
        ensure!(map.key_size() == 4, "origins are not by tag");
        let found = usize::try_from(map.value_size())?;
        ensure!(found.next_multiple_of(8) == size_of::<Written>(), "an origin has {found} bytes");
        let tags = usize::try_from(map.max_entries())?;
        Ok(Self { written: Shared::map(map, 0, tags).context("origins cannot be read")? })
    }

    /// The origin of the request that `tag` stands for now.
    pub fn of_tag(&self, tag: u16) -> Origin {
        // The entry was written before the driver had the request, and is not written again before
        // the driver has the answer.
        let Written { asked_ns, task, cpu, priority, sync, comm, .. } =
            self.written.read(tag.into());
        Origin { asked_ns, task, cpu, priority, sync: sync != 0, comm }
    }
}
