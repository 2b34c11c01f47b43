// SPDX-License-Identifier: GPL-2.0-only

use std::sync::Arc;

use crate::machine::{Arguments, Machine, World};
use crate::maps::{Kind, MapError, Queue, Storage};
use crate::memory::{Heap, Window};

/// Makes a value for a task or a control group that has none.
const CREATE: u64 = 1;

/// Ends what values own that are gone; success, or the kernel's number of an error.
fn end<W: World>(machine: &mut Machine<W>, map: u64, gone: Result<Vec<u64>, MapError>) -> u64 {
    let gone = match gone {
        Ok(gone) => gone,
        Err(why) => return why.code(),
    };
    let Some((map, _)) = machine.map(map) else { return 0 };
    let is_array = matches!(map.kind, Kind::Array(_));
    let parts = map.shape().map(|shape| Arc::clone(&shape.parts)).unwrap_or_default();
    if parts.is_empty() {
        return 0;
    }
    let is_kept = is_array && machine.program().keeps_contents;
    for value in gone {
        if is_kept {
            machine.stop_timers(&parts, value);
        } else {
            machine.end_value(&parts, value);
        }
    }
    0
}

/// Success, or the kernel's number of an error.
fn code(done: Result<(), MapError>) -> u64 {
    done.map_or_else(MapError::code, |()| 0)
}

pub fn lookup<W: World>(machine: &mut Machine<W>, [map, key, ..]: Arguments) -> u64 {
    let cpu = machine.world.cpu();
    find(machine, map, key, cpu)
}

pub fn lookup_on<W: World>(machine: &mut Machine<W>, [map, key, cpu, ..]: Arguments) -> u64 {
    // It is a number of 32 bits.
    find(machine, map, key, cpu & u64::from(u32::MAX))
}

fn find<W: World>(machine: &mut Machine<W>, map: u64, key: u64, cpu: u64) -> u64 {
    let Some((map, (_, window))) = machine.map(map) else { return 0 };
    match window.bytes(key, map.key) {
        Ok(key) => map.find(key, cpu).unwrap_or(0),
        Err(not_there) => {
            machine.fail(not_there);
            0
        }
    }
}

fn read_key<W: World>(machine: &mut Machine<W>, map: u64, key: u64) -> Option<Vec<u8>> {
    let bytes = machine.map(map)?.0.key;
    machine.bytes(key, bytes)
}

pub fn update<W: World>(machine: &mut Machine<W>, [map, key, value, flags, _]: Arguments) -> u64 {
    let cpu = machine.world.cpu();
    let updated = read_key(machine, map, key).and_then(|key| {
        let bytes = machine.map(map)?.0.value();
        let value = machine.bytes(value, bytes)?;
        let (map, memory) = machine.map(map)?;
        Some(map.update((&key, &value), flags, cpu, memory))
    });
    updated.map_or(0, |updated| end(machine, map, updated))
}

pub fn delete<W: World>(machine: &mut Machine<W>, [map, key, ..]: Arguments) -> u64 {
    let deleted = read_key(machine, map, key).and_then(|key| {
        let (map, (heap, _)) = machine.map(map)?;
        Some(map.delete(&key, heap))
    });
    deleted.map_or(0, |deleted| end(machine, map, deleted))
}

fn queue<W: World>(machine: &mut Machine<W>, map: u64) -> Option<&mut Queue> {
    machine.map_as(map, Kind::queue, "the map has no next value").map(|(queue, _)| queue)
}

pub fn push<W: World>(machine: &mut Machine<W>, [map, value, flags, ..]: Arguments) -> u64 {
    let pushed = queue(machine, map).map(|queue| queue.bytes).and_then(|bytes| {
        let value = machine.bytes(value, bytes)?;
        Some(queue(machine, map)?.push(value, flags))
    });
    pushed.map_or(0, code)
}

pub fn pop<W: World>(machine: &mut Machine<W>, [map, to, ..]: Arguments) -> u64 {
    let popped = queue(machine, map).map(|queue| (queue.bytes, queue.pop()));
    hand_over(machine, to, popped)
}

pub fn peek<W: World>(machine: &mut Machine<W>, [map, to, ..]: Arguments) -> u64 {
    let next = queue(machine, map).map(|queue| (queue.bytes, queue.peek()));
    hand_over(machine, to, next)
}

/// Writes a value, or zeros where there is none.
fn hand_over<W: World>(
    machine: &mut Machine<W>,
    to: u64,
    taken: Option<(u64, Result<Vec<u8>, MapError>)>,
) -> u64 {
    let Some((bytes, taken)) = taken else { return 0 };
    let empty = || vec![0; crate::memory::length(bytes)];
    machine.write(to, &taken.clone().unwrap_or_else(|_| empty()));
    code(taken.map(|_| ()))
}

fn storage_of<W: World>(
    machine: &mut Machine<W>,
    map: u64,
) -> Option<(&mut Storage, (&mut Heap, &mut Window))> {
    machine.map_as(map, Kind::storage, "the map has no values of tasks or control groups")
}

pub fn storage<W: World>(
    machine: &mut Machine<W>,
    [map, owner, value, flags, _]: Arguments,
) -> u64 {
    let Some((storage, _)) = storage_of(machine, map) else { return 0 };
    if owner == 0 || flags > CREATE {
        return 0;
    }
    if let Some(found) = storage.find(owner) {
        return found;
    }
    if flags != CREATE {
        return 0;
    }
    let bytes = storage.value.bytes;
    let first = if value == 0 { None } else { machine.bytes(value, bytes) };
    let Some((storage, memory)) = storage_of(machine, map) else { return 0 };
    storage.create(owner, first.as_deref(), memory).unwrap_or(0)
}

pub fn storage_delete<W: World>(machine: &mut Machine<W>, [map, owner, ..]: Arguments) -> u64 {
    let Some((storage, (heap, _))) = storage_of(machine, map) else { return 0 };
    let deleted = storage.delete(owner, heap);
    end(machine, map, deleted)
}
