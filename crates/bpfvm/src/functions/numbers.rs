// SPDX-License-Identifier: GPL-2.0-only
//! Numbers to loop over (kernel/bpf/bpf_iter.c): the current one and the end, in the program's own memory.

use crate::machine::{Arguments, Machine, World};
use crate::maps::MapError;

/// As many as a loop may have (include/linux/bpf.h, `BPF_MAX_LOOPS`).
const MOST: i64 = 8 * 1024 * 1024;

/// A number of 32 bits with its sign.
fn number(register: u64) -> i32 {
    let bytes = register.to_le_bytes();
    i32::from_le_bytes(bytes[..4].try_into().expect("these are four"))
}

fn set<W: World>(machine: &mut Machine<W>, at: u64, current: i32, end: i32) {
    machine.write(at, &[current.to_le_bytes(), end.to_le_bytes()].concat());
}

pub fn begin<W: World>(machine: &mut Machine<W>, [at, from, to, ..]: Arguments) -> u64 {
    let (from, to) = (number(from), number(to));
    let count = i64::from(to) - i64::from(from);
    let refused = match count {
        ..0 => MapError::Invalid.code(),
        _ if count > MOST => MapError::TooBig.code(),
        _ => 0,
    };
    if refused != 0 {
        set(machine, at, 0, 0);
    } else {
        set(machine, at, from.wrapping_sub(1), to);
    }
    refused
}

/// The address of the next number, or 0 behind the last.
pub fn next<W: World>(machine: &mut Machine<W>, [at, ..]: Arguments) -> u64 {
    let state = machine.read(at);
    let (current, end) = (number(state).wrapping_add(1), number(state >> 32));
    if current >= end {
        set(machine, at, 0, 0);
        return 0;
    }
    machine.write(at, &current.to_le_bytes());
    at
}

pub fn end<W: World>(machine: &mut Machine<W>, [at, ..]: Arguments) -> u64 {
    set(machine, at, 0, 0);
    0
}
