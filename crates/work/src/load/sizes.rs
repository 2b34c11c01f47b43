// SPDX-License-Identifier: GPL-2.0-only
//! Default sizes of a load, which depend on the machine.

use anyhow::{Context, Result};
use procfs::{Current, Meminfo};

/// The number of processes or threads; 0 means `for_each_cpu` for each CPU.
pub fn processes(given: u16, for_each_cpu: usize) -> Result<usize> {
    Ok(match given {
        0 => for_each_cpu * std::thread::available_parallelism()?.get(),
        given => given.into(),
    })
}

/// MemTotal and SwapTotal of /proc/meminfo in bytes.
pub fn memory_and_swap() -> Result<(u64, u64)> {
    let memory = Meminfo::current().context("cannot read /proc/meminfo")?;
    Ok((memory.mem_total, memory.swap_total))
}
