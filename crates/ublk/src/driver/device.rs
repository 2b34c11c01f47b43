// SPDX-License-Identifier: GPL-2.0-only
//! The names of a disk's devices, and the signals to its server.

use std::path::PathBuf;

use nix::sys::signal::Signal;

/// Signals that the server has ended by itself.
pub const ENDED: Signal = Signal::SIGUSR1;

/// Tells the server to delay and count nothing from now on: the disk is to be emptied and removed.
pub const HURRY: Signal = Signal::SIGUSR2;

/// The name of disk `number` in /sys/block.
pub fn block_name(number: u32) -> String {
    format!("ublkb{number}")
}

pub fn block_device(number: u32) -> PathBuf {
    format!("/dev/{}", block_name(number)).into()
}

/// The device from which its server gets requests.
pub fn character_device(number: u32) -> PathBuf {
    format!("/dev/ublkc{number}").into()
}
