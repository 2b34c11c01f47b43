// SPDX-License-Identifier: GPL-2.0-only
//! Locks that find out whether they can be had at all. Nothing else runs: only one that is held is never free.

use crate::errno::{Errno, returned};
use crate::machine::{Arguments, Machine, World};

pub fn lock<W: World>(machine: &mut Machine<W>, [address, ..]: Arguments) -> u64 {
    if machine.resilient.contains(&address) {
        return returned(Errno::DEADLK);
    }
    machine.resilient.push(address);
    0
}

/// They are given back in the opposite order.
pub fn unlock<W: World>(machine: &mut Machine<W>, [address, ..]: Arguments) -> u64 {
    if machine.resilient.pop() != Some(address) {
        return machine.misuse(format!("it releases the lock at {address:#x}, not held last"));
    }
    0
}
