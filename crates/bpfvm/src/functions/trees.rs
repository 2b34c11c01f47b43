// SPDX-License-Identifier: GPL-2.0-only
//! Trees of what programs allocate, in the order that a function of theirs says.

use super::objects::free_node;
use crate::machine::{Arguments, Machine, World};
use crate::maps::MapError;
use crate::program::FUNCTION;

/// Adds a node behind all that are not greater. The kernel asks as many others as its tree is deep, and so is it here,
/// though not always the same ones.
pub fn add<W: World>(machine: &mut Machine<W>, [root, node, less, ..]: Arguments) -> u64 {
    let Some(node) = free_node(machine, node) else { return MapError::Invalid.code() };
    let function = usize::try_from(less ^ FUNCTION).unwrap_or(usize::MAX);
    if function >= machine.program().functions.len() {
        return machine.misuse(format!("it takes {less:#x} for a function"));
    }
    let (mut from, mut to) = (0, machine.members.count(root));
    while from < to {
        let middle = from.midpoint(to);
        let other = machine.members.get(root, middle).unwrap_or(0);
        match machine.call(function, [node, other, 0, 0, 0]) {
            Ok(outcome) if outcome.value.to_le_bytes()[0] != 0 => to = middle,
            Ok(_) => from = middle + 1,
            Err(_) => return 0,
        }
    }
    machine.members.insert(root, from, node);
    0
}

pub fn first<W: World>(machine: &mut Machine<W>, [root, ..]: Arguments) -> u64 {
    machine.members.get(root, 0).unwrap_or(0)
}

/// Takes a node out of its tree; returns 0 if it is not in it.
pub fn remove<W: World>(machine: &mut Machine<W>, [root, node, ..]: Arguments) -> u64 {
    if machine.members.remove(root, node) { node } else { 0 }
}
