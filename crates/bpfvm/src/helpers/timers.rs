// SPDX-License-Identifier: GPL-2.0-only
//! Timers in the values of maps (kernel/bpf/helpers.c).

use super::loops::function;
use crate::kept::TimerError;
use crate::machine::{Arguments, Machine, World};
use crate::maps::MapError;
use crate::maps::Special;

/// Clocks that a timer may go by: real time, monotonic, and the one that goes on in sleep.
const CLOCKS: [u64; 3] = [0, 1, 7];

/// The time is that of the clock, not from now on.
const ABSOLUTE: u64 = 1;
/// It ends on the CPU on which it was started.
const PINNED: u64 = 2;

fn code(done: Result<(), TimerError>) -> u64 {
    done.map_or_else(TimerError::code, |()| 0)
}

pub fn begin<W: World>(machine: &mut Machine<W>, [timer, map, clock, ..]: Arguments) -> u64 {
    let Some((found, _)) = machine.map(map) else { return 0 };
    let is_inside = found.element(timer).is_some_and(|(_, value)| {
        let parts = found.shape().map(|shape| &shape.parts[..]).unwrap_or_default();
        parts.iter().any(|part| part.special == Special::Timer && value + part.from == timer)
    });
    if !is_inside {
        return machine.misuse(format!("there is no timer of this map at {timer:#x}"));
    }
    if !CLOCKS.contains(&clock) {
        return MapError::Invalid.code();
    }
    code(machine.timers.begin(timer, map))
}

pub fn set_function<W: World>(machine: &mut Machine<W>, [timer, pointer, ..]: Arguments) -> u64 {
    match function(machine, pointer) {
        Some(_) => code(machine.timers.set_function(timer, pointer)),
        None => 0,
    }
}

pub fn start<W: World>(machine: &mut Machine<W>, [timer, time, flags, ..]: Arguments) -> u64 {
    if flags & !(ABSOLUTE | PINNED) != 0 {
        return MapError::Invalid.code();
    }
    let now = machine.world.now();
    let at = if flags & ABSOLUTE != 0 { time.max(now) } else { now.saturating_add(time) };
    let cpu = machine.world.cpu();
    code(machine.timers.start(timer, at, cpu))
}

/// Stops a timer; returns 1 if it ran.
pub fn cancel<W: World>(machine: &mut Machine<W>, [timer, ..]: Arguments) -> u64 {
    machine.timers.cancel(timer).map_or_else(TimerError::code, u64::from)
}
