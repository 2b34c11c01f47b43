// SPDX-License-Identifier: GPL-2.0-only
//! What the device of a disk is called, and what its server is told by signals.

use std::path::PathBuf;

use nix::sys::signal::Signal;

/// Says that the server has ended by itself.
pub const ENDED: Signal = Signal::SIGUSR1;

/// From now on nothing takes time, and nothing is counted: the disk is to be emptied and taken away.
pub const HURRY: Signal = Signal::SIGUSR2;

/// As /sys/block names disk `number`.
pub fn block_name(number: u32) -> String {
    format!("ublkb{number}")
}

pub fn block_device(number: u32) -> PathBuf {
    format!("/dev/{}", block_name(number)).into()
}

/// Where its server gets requests.
pub fn character_device(number: u32) -> PathBuf {
    format!("/dev/ublkc{number}").into()
}
