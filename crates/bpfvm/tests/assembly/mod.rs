// SPDX-License-Identifier: GPL-2.0-only
//! Instructions by what they do, and programs of them.
#![allow(dead_code, reason = "no test needs all of them")]

pub mod random;

use std::sync::{Arc, LazyLock};

use bpfvm::Object;
use bpfvm::instruction::Instruction;
use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::machine::{Machine, World};
use bpfvm::object::{Function, Map, Reference, Target};
use bpfvm::program::{Program, link};

pub static NEWEST: LazyLock<Kernel> = LazyLock::new(|| Kernel::read(KERNELS.len() - 1));

pub fn instruction(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction { code, destination: to, source: from, offset, immediate }
}

/// An operation of 64 bits by its number, with an immediate.
pub fn compute(operation: u8, to: u8, value: i32) -> Instruction {
    instruction(operation | 0x07, to, 0, 0, value)
}

pub fn compute_with(operation: u8, to: u8, from: u8) -> Instruction {
    instruction(operation | 0x0f, to, from, 0, 0)
}

pub const ADD: u8 = 0x00;
pub const MOVE: u8 = 0xb0;

pub fn set(to: u8, value: i32) -> Instruction {
    compute(MOVE, to, value)
}

pub fn copy(to: u8, from: u8) -> Instruction {
    compute_with(MOVE, to, from)
}

pub fn wide(to: u8, value: u64) -> [Instruction; 2] {
    let half =
        |from: u32| i32::from_le_bytes((value >> from).to_le_bytes()[..4].try_into().unwrap());
    [instruction(0x18, to, 0, 0, half(0)), instruction(0, 0, 0, 0, half(32))]
}

const SIZES: [(u8, u8); 4] = [(1, 0x10), (2, 0x08), (4, 0x00), (8, 0x18)];

fn size(bytes: u8) -> u8 {
    SIZES.iter().find(|(known, _)| *known == bytes).unwrap().1
}

pub fn load(bytes: u8, to: u8, base: u8, offset: i16) -> Instruction {
    instruction(0x61 | size(bytes), to, base, offset, 0)
}

pub fn load_signed(bytes: u8, to: u8, base: u8, offset: i16) -> Instruction {
    instruction(0x81 | size(bytes), to, base, offset, 0)
}

pub fn store(bytes: u8, base: u8, offset: i16, from: u8) -> Instruction {
    instruction(0x63 | size(bytes), base, from, offset, 0)
}

pub fn store_value(bytes: u8, base: u8, offset: i16, value: i32) -> Instruction {
    instruction(0x62 | size(bytes), base, 0, offset, value)
}

pub fn atomic(bytes: u8, kind: i32, base: u8, offset: i16, register: u8) -> Instruction {
    instruction(0xc3 | size(bytes), base, register, offset, kind)
}

pub fn jump(distance: i16) -> Instruction {
    instruction(0x05, 0, 0, distance, 0)
}

pub const EQUAL: u8 = 0x10;
pub const NOT_EQUAL: u8 = 0x50;

pub fn jump_if(comparison: u8, left: u8, value: i32, distance: i16) -> Instruction {
    instruction(comparison | 0x05, left, 0, distance, value)
}

pub fn may_goto(distance: i16) -> Instruction {
    instruction(0xe5, 0, 0, distance, 0)
}

pub fn helper(number: i32) -> Instruction {
    instruction(0x85, 0, 0, 0, number)
}

/// Calls the function that begins at a distance from the next place.
pub fn call(distance: i32) -> Instruction {
    instruction(0x85, 0, 1, 0, distance)
}

pub fn exit() -> Instruction {
    instruction(0x95, 0, 0, 0, 0)
}

/// Loads the address of the map with a number.
pub fn map(to: u8, number: i32) -> [Instruction; 2] {
    [instruction(0x18, to, 1, 0, number), instruction(0, 0, 0, 0, 0)]
}

/// Links functions, each by its name; the first begins at place 0.
pub fn program(functions: &[(&str, Vec<Instruction>)]) -> Arc<Program> {
    program_with(Vec::new(), functions)
}

/// Links functions that use maps.
pub fn program_with(maps: Vec<Map>, functions: &[(&str, Vec<Instruction>)]) -> Arc<Program> {
    let mut start = 0;
    let places = functions.iter().map(|(name, instructions)| {
        let length = instructions.len();
        let place = Function { name: (*name).into(), start, length, is_global: true };
        start += length;
        place
    });
    let places = places.collect();
    let instructions: Vec<_> = functions.iter().flat_map(|(_, each)| each.clone()).collect();
    let loads =
        instructions.iter().enumerate().filter(|(_, each)| each.code == 0x18 && each.source == 1);
    let maps_used = loads.map(|(at, each)| Reference {
        at,
        target: Target::Map(usize::try_from(each.immediate).unwrap()),
    });
    let references: Vec<_> = maps_used.collect();
    let mut object = Object::of_instructions(instructions, places).unwrap();
    object.maps = maps;
    object.code[0].references.extend(references);
    object.code[0].references.sort_by_key(|reference| reference.at);
    Arc::new(link(&Arc::new(object), &NEWEST, &|_| None))
}

/// A machine that runs the steps of a program, and one that runs what was compiled of them if there is a compiler.
pub fn machines_of<W: World>(program: &Arc<Program>, world: impl Fn() -> W) -> [Machine<W>; 2] {
    let machine = || Machine::new(Arc::clone(program), world()).unwrap();
    [machine(), with_compiler(machine(), program)]
}

#[cfg(feature = "jit")]
fn with_compiler<W: World>(mut machine: Machine<W>, program: &Arc<Program>) -> Machine<W> {
    machine.use_compiled(Arc::new(bpfvm::jit::Compiled::new(program).unwrap()));
    machine
}

#[cfg(not(feature = "jit"))]
fn with_compiler<W: World>(machine: Machine<W>, _: &Arc<Program>) -> Machine<W> {
    machine
}
