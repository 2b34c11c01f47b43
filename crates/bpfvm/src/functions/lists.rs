// SPDX-License-Identifier: GPL-2.0-only
//! Lists of what programs allocate. A pointer to a node is what they push and pop.

use super::objects::free_node;
use crate::machine::{Arguments, Machine, World};
use crate::maps::MapError;

fn push<W: World>(machine: &mut Machine<W>, head: u64, node: u64, is_front: bool) -> u64 {
    let Some(node) = free_node(machine, node) else { return MapError::Invalid.code() };
    let place = if is_front { 0 } else { usize::MAX };
    machine.members.insert(head, place, node);
    0
}

pub fn push_front<W: World>(machine: &mut Machine<W>, [head, node, ..]: Arguments) -> u64 {
    push(machine, head, node, true)
}

pub fn push_back<W: World>(machine: &mut Machine<W>, [head, node, ..]: Arguments) -> u64 {
    push(machine, head, node, false)
}

fn last<W: World>(machine: &Machine<W>, head: u64) -> Option<u64> {
    let place = machine.members.count(head).checked_sub(1)?;
    machine.members.get(head, place)
}

fn pop<W: World>(machine: &mut Machine<W>, head: u64, node: Option<u64>) -> u64 {
    let Some(node) = node else { return 0 };
    machine.members.remove(head, node);
    node
}

pub fn pop_front<W: World>(machine: &mut Machine<W>, [head, ..]: Arguments) -> u64 {
    let node = machine.members.get(head, 0);
    pop(machine, head, node)
}

pub fn pop_back<W: World>(machine: &mut Machine<W>, [head, ..]: Arguments) -> u64 {
    let node = last(machine, head);
    pop(machine, head, node)
}

pub fn front<W: World>(machine: &mut Machine<W>, [head, ..]: Arguments) -> u64 {
    machine.members.get(head, 0).unwrap_or(0)
}

pub fn back<W: World>(machine: &mut Machine<W>, [head, ..]: Arguments) -> u64 {
    last(machine, head).unwrap_or(0)
}
