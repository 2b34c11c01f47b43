// SPDX-License-Identifier: GPL-2.0-only
//! A machine that remembers nothing: what was written is on its disk, nothing is cached, nothing is
//! swapped out. contest did this between its runs (specs/benchmarks/contest.md section 3.6).

use std::ffi::CString;
use std::fs;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::libc;
use nix::unistd::sync;

use crate::key_value::number;

/// Less than this waits to be written on an idle machine.
const SETTLED_KB: u64 = 1024;
/// Others may write without end: so long is waited for them.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);
/// What the first round frees may hold what the second then can.
const ROUNDS: usize = 2;

/// Writes back and drops caches. A guest's swap space is emptied too; that of a machine is left
/// alone, because it would have none if the agent were killed in the middle.
///
/// # Errors
/// The kernel refuses, or what is swapped out does not fit into the memory.
pub fn memory() -> Result<()> {
    if std::process::id() == 1 {
        empty_swap()?;
    }
    for _ in 0..ROUNDS {
        sync();
        settle()?;
        fs::write("/proc/sys/vm/drop_caches", "3").context("cannot drop caches")?;
    }
    Ok(())
}

fn settle() -> Result<()> {
    let start = Instant::now();
    while waiting_kb()? > SETTLED_KB && start.elapsed() < SETTLE_LIMIT {
        sleep(LOOK);
    }
    Ok(())
}

fn waiting_kb() -> Result<u64> {
    let text = fs::read_to_string("/proc/meminfo").context("cannot read /proc/meminfo")?;
    let sum =
        number(&text, "Dirty:").zip(number(&text, "Writeback:")).map(|(a, b): (u64, u64)| a + b);
    sum.context("/proc/meminfo lacks Dirty or Writeback")
}

fn empty_swap() -> Result<()> {
    let text = fs::read_to_string("/proc/swaps").context("cannot read /proc/swaps")?;
    for device in text.lines().skip(1).filter_map(|line| line.split_whitespace().next()) {
        let path = CString::new(device)?;
        // SAFETY: the path is NUL-terminated and outlives the calls.
        let failed =
            unsafe { libc::swapoff(path.as_ptr()) != 0 || libc::swapon(path.as_ptr(), 0) != 0 };
        ensure!(!failed, "cannot empty the swap space {device}: {}", io::Error::last_os_error());
    }
    Ok(())
}
