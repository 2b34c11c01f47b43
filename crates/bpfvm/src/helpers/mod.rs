// SPDX-License-Identifier: GPL-2.0-only
//! Helpers of the kernel that need nothing but a machine: those of maps, of memory, of loops, of timers, what
//! prints (include/uapi/linux/bpf.h
//! says what each does).

mod loops;
mod maps;
mod memory;
mod printing;
mod rings;
mod timers;

pub use printing::print_to_stream;

use crate::machine::{KernelFunction, Machine, World};

/// The helper with a number, if it needs nothing else. A world that has more asks here for the others.
pub fn find<W: World>(number: u32) -> Option<KernelFunction<W>> {
    Some(match number {
        1 => maps::lookup,
        2 => maps::update,
        3 => maps::delete,
        6 => printing::print_few,
        7 => |machine, _| machine.world.random().into(),
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
        130 => rings::output,
        131 => rings::reserve,
        132 => rings::submit,
        133 => rings::discard,
        134 => rings::query,
        153 => |machine, [address, cpu, ..]| on_cpu(machine, address, cpu & u64::from(u32::MAX)),
        154 => |machine, [address, ..]| {
            let cpu = machine.world.cpu();
            on_cpu(machine, address, cpu)
        },
        156 | 210 => maps::storage,
        157 | 211 => maps::storage_delete,
        164 => loops::for_each,
        165 => printing::write,
        169 => timers::begin,
        170 => timers::set_function,
        171 => timers::start,
        172 => timers::cancel,
        177 => printing::print_many,
        181 => loops::repeat,
        182 => memory::compare,
        194 => memory::exchange,
        195 => maps::lookup_on,
        _ => return None,
    })
}

/// The copy of a CPU of a variable of which each CPU has one; 0 if there is no such variable or CPU.
fn on_cpu<W: World>(machine: &mut Machine<W>, address: u64, cpu: u64) -> u64 {
    match address {
        0 => 0,
        _ if cpu >= machine.world.cpus() => 0,
        _ => address.wrapping_add(machine.world.offset(cpu)),
    }
}
