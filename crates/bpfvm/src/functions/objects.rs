// SPDX-License-Identifier: GPL-2.0-only
//! What programs allocate of their own types (kernel/bpf/helpers.c).

use btf::TypeId;

use crate::kept::Kind;
use crate::machine::{Arguments, Machine, World};
use crate::memory::length;

pub fn new<W: World>(machine: &mut Machine<W>, [of, ..]: Arguments) -> u64 {
    let found = u32::try_from(of).ok().map(TypeId);
    let types = machine.program().object.btf.types().len();
    let found = found.filter(|of| length(of.0.into()) < types);
    let shape = found.and_then(|of| Some((of, machine.shape(of)?)));
    match shape {
        Some((of, shape)) => machine.allocate(shape.bytes, Kind::Local(of)),
        None => machine.misuse(format!("its types have no struct with the number {of}")),
    }
}

pub fn drop<W: World>(machine: &mut Machine<W>, [address, ..]: Arguments) -> u64 {
    machine.release(address);
    0
}

pub fn acquire<W: World>(machine: &mut Machine<W>, [address, ..]: Arguments) -> u64 {
    if !machine.allocated.acquire(address) {
        return machine.misuse(format!("it has allocated nothing at {address:#x}"));
    }
    address
}

/// The address of the node at the head of a list or tree that the program gives away; None if it is at one already,
/// and then it is freed as the kernel does it.
pub fn free_node<W: World>(machine: &mut Machine<W>, node: u64) -> Option<u64> {
    let Some(start) = machine.allocated.start(node) else {
        machine.misuse(format!("it has allocated no node at {node:#x}"));
        return None;
    };
    if machine.members.head(node).is_some() {
        machine.release(start);
        return None;
    }
    Some(node)
}
