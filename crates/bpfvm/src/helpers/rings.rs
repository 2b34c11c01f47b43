// SPDX-License-Identifier: GPL-2.0-only
//! Records for user space (kernel/bpf/ringbuf.c).

use crate::errno::{Errno, returned};
use crate::machine::{Arguments, Machine, World};
use crate::maps::{Kind, MapError, Ring};

fn ring<W: World>(machine: &mut Machine<W>, map: u64) -> Option<&mut Ring> {
    machine.map_as(map, Kind::ring, "the map takes no records").map(|(ring, _)| ring)
}

/// Makes room for a record; returns where to fill it in, or 0.
pub fn reserve<W: World>(machine: &mut Machine<W>, [map, bytes, flags, ..]: Arguments) -> u64 {
    let Some(found) = ring(machine, map) else { return 0 };
    if flags != 0 || !found.has_room(bytes) {
        return 0;
    }
    let Ok(address) = machine.heap.allocate(&mut machine.window, bytes) else { return 0 };
    if let Some(found) = ring(machine, map) {
        found.reserve(address, bytes);
    }
    address
}

pub fn submit<W: World>(machine: &mut Machine<W>, [record, ..]: Arguments) -> u64 {
    finish(machine, record, true)
}

pub fn discard<W: World>(machine: &mut Machine<W>, [record, ..]: Arguments) -> u64 {
    finish(machine, record, false)
}

fn finish<W: World>(machine: &mut Machine<W>, record: u64, is_kept: bool) -> u64 {
    let found = machine.open_record(record);
    let Some((number, bytes)) = found else {
        return machine.misuse(format!("there is no record to finish at {record:#x}"));
    };
    let content = if is_kept { machine.bytes(record, bytes) } else { None };
    machine.heap.retire(record, bytes);
    machine.finish_record(number, record, content);
    0
}

/// Makes a record of bytes that are there already.
pub fn output<W: World>(machine: &mut Machine<W>, [map, data, bytes, flags, _]: Arguments) -> u64 {
    /// Whether user space is woken.
    const WAKE_UPS: u64 = 3;
    let Some(found) = ring(machine, map) else { return 0 };
    if flags & !WAKE_UPS != 0 {
        return MapError::Invalid.code();
    }
    if !found.has_room(bytes) {
        return returned(Errno::AGAIN);
    }
    let record = reserve(machine, [map, bytes, 0, 0, 0]);
    if let Some(content) = machine.bytes(data, bytes) {
        machine.write(record, &content);
        finish(machine, record, true);
    }
    0
}

pub fn query<W: World>(machine: &mut Machine<W>, [map, what, ..]: Arguments) -> u64 {
    ring(machine, map).map_or(0, |ring| ring.query(what))
}
