// SPDX-License-Identifier: GPL-2.0-only
//! Helpers that call functions of the program.

use crate::machine::{Arguments, Machine, Problem, World};
use crate::maps::MapError;
use crate::program::FUNCTION;

/// As often as the kernel repeats a function at most (include/linux/bpf.h, `BPF_MAX_LOOPS`).
const MOST: u64 = 8 * 1024 * 1024;

/// The function that a pointer to one stands for; a fault if it stands for none.
pub fn function<W: World>(machine: &mut Machine<W>, pointer: u64) -> Option<usize> {
    let number = usize::try_from(pointer ^ FUNCTION).ok();
    let number = number.filter(|&number| number < machine.program().functions.len());
    if number.is_none() {
        machine.fail(Problem::Misuse(format!("it takes {pointer:#x} for a function")));
    }
    number
}

/// Calls a function until it returns something else than 0; returns how often.
pub fn repeat<W: World>(
    machine: &mut Machine<W>,
    [count, pointer, context, flags, _]: Arguments,
) -> u64 {
    let count = count & u64::from(u32::MAX);
    if flags != 0 {
        return MapError::Invalid.code();
    }
    if count > MOST {
        // The verifier puts the loop in the place of the call, and there it is a number of 32 bits (kernel/bpf/verifier.c,
        // `inline_bpf_loop`).
        return MapError::TooBig.code() & u64::from(u32::MAX);
    }
    let Some(function) = function(machine, pointer) else { return 0 };
    for each in 0..count {
        match machine.call(function, [each, context, 0, 0, 0]) {
            Ok(outcome) if outcome.value == 0 => {}
            _ => return each + 1,
        }
    }
    count
}

/// Calls a function with each element of a map until it returns something else than 0; returns how many it was.
pub fn for_each<W: World>(
    machine: &mut Machine<W>,
    [map, pointer, context, flags, _]: Arguments,
) -> u64 {
    if flags != 0 {
        return MapError::Invalid.code();
    }
    let Some(function) = function(machine, pointer) else { return 0 };
    let cpu = machine.world.cpu();
    let Some((found, (heap, window))) = machine.map(map) else { return 0 };
    let (elements, bytes) = (found.list(cpu), found.key);
    let Ok(key) = heap.allocate(window, bytes) else { return MapError::NoMemory.code() };
    let mut shown = 0;
    for (name, value) in elements {
        // A function may take away what it was not shown yet.
        let is_there = machine.map(map).is_some_and(|(map, _)| map.has(&name, value));
        if !is_there {
            continue;
        }
        machine.write(key, &name);
        shown += 1;
        match machine.call(function, [map, key, value, context, 0]) {
            Ok(outcome) if outcome.value == 0 => {}
            _ => break,
        }
    }
    machine.heap.release(key, bytes);
    shown
}
