// SPDX-License-Identifier: GPL-2.0-only
//! Helpers of the kernel that need nothing but a machine: those of maps, of memory, of loops (include/uapi/linux/bpf.h
//! says what each does).

mod loops;
mod maps;
mod memory;

use crate::machine::{KernelFunction, World};

/// The helper with a number, if it needs nothing else. A world that has more asks here for the others.
pub fn find<W: World>(number: u32) -> Option<KernelFunction<W>> {
    Some(match number {
        1 => maps::lookup,
        2 => maps::update,
        3 => maps::delete,
        // Time, and the CPU.
        5 | 125 => |machine, _| machine.world.now(),
        8 => |machine, _| machine.world.cpu(),
        87 => maps::push,
        88 => maps::pop,
        89 => maps::peek,
        93 => memory::lock,
        94 => memory::unlock,
        // They read kernel memory, user memory, or either: here it is one.
        4 | 112 | 113 => memory::read,
        45 | 114 | 115 => memory::read_text,
        156 | 210 => maps::storage,
        157 | 211 => maps::storage_delete,
        164 => loops::for_each,
        181 => loops::repeat,
        182 => memory::compare,
        194 => memory::exchange,
        195 => maps::lookup_on,
        _ => return None,
    })
}
