// SPDX-License-Identifier: GPL-2.0-only
//! Flushes a machine's memory: written data is on its disk, no data is cached or swapped out.
//! contest emptied memory and swap space between its runs.

use std::ffi::CString;
use std::fs;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::libc;
use nix::unistd::sync;
use procfs::{FromRead, Meminfo};

use crate::root::Root;
use crate::stop::Stop;

/// Bytes that may wait to be written on an idle machine.
const SETTLED_BYTES: u64 = 1 << 20;
/// Longest wait for other writers, which may never stop.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);
/// Rounds of dropping caches: the first may free objects that hold others.
const ROUNDS: usize = 2;

/// Whether the swap space is emptied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Swap {
    /// Left as it is: if the agent were killed in the middle of emptying, the machine would have no
    /// swap space.
    #[default]
    Left,
    /// Emptied: for a guest, which ends with its agent.
    Emptied,
}

/// Writes back and drops caches.
///
/// # Errors
/// The kernel refuses, swapped data does not fit into the memory, or the agent is to stop.
pub fn memory(swap: Swap, stop: &Stop) -> Result<()> {
    let root = Root::machine();
    if swap == Swap::Emptied {
        empty_swap(&root)?;
    }
    for _ in 0..ROUNDS {
        sync();
        settle(&root, stop)?;
        fs::write(root.at("/proc/sys/vm/drop_caches"), "3").context("cannot drop caches")?;
    }
    Ok(())
}

fn settle(root: &Root, stop: &Stop) -> Result<()> {
    let start = Instant::now();
    while waiting_bytes(root)? > SETTLED_BYTES && start.elapsed() < SETTLE_LIMIT {
        ensure!(!stop.requested(), "flushing was stopped on request");
        sleep(LOOK);
    }
    Ok(())
}

fn waiting_bytes(root: &Root) -> Result<u64> {
    let memory = Meminfo::from_file(root.at("/proc/meminfo"))
        .context("cannot read how much waits to be written")?;
    Ok(memory.dirty + memory.writeback)
}

fn empty_swap(root: &Root) -> Result<()> {
    let text = fs::read(root.at("/proc/swaps")).context("cannot read /proc/swaps")?;
    for device in swap_spaces(&text) {
        let path = CString::new(device)?;
        // SAFETY: the path is NUL-terminated and outlives the calls.
        let failed =
            unsafe { libc::swapoff(path.as_ptr()) != 0 || libc::swapon(path.as_ptr(), 0) != 0 };
        ensure!(!failed, "cannot empty the swap space {path:?}: {}", io::Error::last_os_error());
    }
    Ok(())
}

/// The paths of /proc/swaps (mm/swapfile.c, `swap_show`), where the kernel writes white space and backslashes as
/// three octal digits. The mark of a deleted file stays part of the path.
fn swap_spaces(swaps: &[u8]) -> Vec<Vec<u8>> {
    let lines = swaps.split(|&byte| byte == b'\n').skip(1);
    let paths = lines.filter_map(|line| line.split(u8::is_ascii_whitespace).next());
    paths.filter(|path| !path.is_empty()).map(unescaped).collect()
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut found = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.first_chunk::<3>().filter(|_| first == b'\\');
        let number = digits
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        found.push(number.unwrap_or(first));
        rest = if number.is_some() { &after[3..] } else { after };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_spaces_have_the_names_that_they_were_given() {
        let text = b"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
            /dev/vdb                                file\t\t8\t0\t-2\n\
            /a\\040b\\134\\011c                         file\t\t8\t0\t-3\n\
            /odd\\9\\04                              file\t\t8\t0\t-4\n";
        let expected: [&[u8]; 3] = [b"/dev/vdb", b"/a b\\\tc", b"/odd\\9\\04"];
        assert_eq!(swap_spaces(text), expected);
        assert_eq!(swap_spaces(b"Filename\n"), [b""; 0]);
    }

    #[test]
    fn waiting_bytes_are_read_below_a_root() {
        assert!(waiting_bytes(&Root::machine()).is_ok());
        let directory = tempfile::TempDir::new().unwrap();
        let error = waiting_bytes(&Root::below(directory.path())).unwrap_err();
        assert!(format!("{error:#}").contains("meminfo"), "{error:#}");
    }

    #[test]
    fn swap_is_left_alone_unless_asked_for() {
        assert_eq!(Swap::default(), Swap::Left);
    }
}
