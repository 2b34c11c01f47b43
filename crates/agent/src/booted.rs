// SPDX-License-Identifier: GPL-2.0-only
//! Whether this process was booted as a lab's guest: checked before anything else is done.

use std::path::Path;

use rustix::fs::{FsWord, statfs};

/// The file with a lab's orders for the guest that it boots.
pub const ORDERS: &str = "/boot.json";

/// Whether the kernel started this process as the first one of a lab's guest, rather than a
/// container: only a lab's guest has this program as /init, a file of orders, and a root in memory.
pub fn is_booted_for_us() -> bool {
    const INIT: &str = "/init";
    /// linux/magic.h
    const IN_MEMORY: [FsWord; 2] = [0x8584_58f6, 0x0102_1994];
    std::process::id() == 1
        && std::env::args_os().next().is_some_and(|name| name == INIT)
        && Path::new(ORDERS).exists()
        && statfs("/").is_ok_and(|about| IN_MEMORY.contains(&about.f_type))
}
