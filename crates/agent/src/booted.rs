// SPDX-License-Identifier: GPL-2.0-only
//! Whether this process was booted as a lab's guest, which is known before anything is done.

use std::path::Path;

use rustix::fs::{FsWord, statfs};

/// What a lab wants of the guest that it boots.
pub const ORDERS: &str = "/boot.json";

/// Whether the kernel started this process as the first of a guest that a lab made for it, not a container as its first:
/// the name of the program, the orders, and a root that lies in memory are all the lab's.
pub fn is_booted_for_us() -> bool {
    const INIT: &str = "/init";
    /// linux/magic.h
    const IN_MEMORY: [FsWord; 2] = [0x8584_58f6, 0x0102_1994];
    std::process::id() == 1
        && std::env::args_os().next().is_some_and(|name| name == INIT)
        && Path::new(ORDERS).exists()
        && statfs("/").is_ok_and(|about| IN_MEMORY.contains(&about.f_type))
}
