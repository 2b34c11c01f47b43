// SPDX-License-Identifier: GPL-2.0-only
//! Any instructions with two maps, step by step and compiled: they come to the same, whether that is a value or a fault,
//! and leave the same memory.
#![no_main]

use std::sync::{Arc, LazyLock};

use bpfvm::Object;
use bpfvm::instruction::{Instruction, read_all};
use bpfvm::jit::Compiled;
use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::machine::{Arguments, Fault, KernelFunction, Machine, Outcome, World};
use bpfvm::memory::HEAP;
use bpfvm::object::{Function, Map, MapKind, Reference, Shape, Target};
use bpfvm::program::{Program, link};
use bpfvm::{functions, helpers};
use libfuzzer_sys::fuzz_target;

static NEWEST: LazyLock<Kernel> = LazyLock::new(|| Kernel::read(KERNELS.len() - 1));

/// More only make a case slower.
const MOST_INSTRUCTIONS: usize = 300;

/// An array and a hash; their numbers are those of include/uapi/linux/bpf.h.
const KINDS: [u64; 2] = [2, 1];

struct Two;

impl World for Two {
    fn helper(number: u32) -> Option<KernelFunction<Self>> {
        helpers::find(number)
    }

    fn function(name: &str) -> Option<KernelFunction<Self>> {
        functions::find(name)
    }

    fn cpus(&self) -> u64 {
        2
    }

    fn random(&mut self) -> u32 {
        4
    }
}

fn maps() -> Vec<Map> {
    let maps = KINDS.iter().enumerate().map(|(number, &kind)| Map {
        key: Shape { size: 4, of: None },
        value: Shape { size: 16, of: None },
        entries: 4,
        ..Map::new(&format!("map{number}"), MapKind(kind))
    });
    maps.collect()
}

/// Two functions that share the instructions, of which the second has the last third.
fn program(instructions: Vec<Instruction>) -> Option<Arc<Program>> {
    let (length, second) = (instructions.len(), instructions.len() * 2 / 3);
    let function = |name: &str, start, end: usize| Function {
        name: name.into(),
        start,
        length: end - start,
        is_global: true,
    };
    let functions = vec![function("first", 0, second), function("second", second, length)];
    let loads = instructions.iter().enumerate().filter(|(_, each)| each.is_wide());
    let loads = loads.filter(|(_, each)| each.source == 1);
    let references: Vec<_> = loads
        .map(|(at, each)| Reference {
            at,
            target: Target::Map(each.immediate.cast_unsigned() as usize % KINDS.len()),
        })
        .collect();
    let mut object = Object::of_instructions(instructions, functions).ok()?;
    object.maps = maps();
    object.code[0].references.extend(references);
    object.code[0].references.sort_by_key(|reference| reference.at);
    Some(Arc::new(link(&Arc::new(object), &NEWEST, &|_| None)))
}

fn run(
    program: &Arc<Program>,
    compiled: Option<Compiled>,
    arguments: Arguments,
) -> (Result<Outcome, Fault>, Vec<u8>) {
    let mut machine = Machine::new(Arc::clone(program), Two).expect("there is memory");
    machine.set_limit(3000);
    if let Some(compiled) = compiled {
        machine.use_compiled(Arc::new(compiled));
    }
    let outcome = machine.call(0, arguments);
    let mut memory = vec![0; usize::try_from(machine.heap.used()).expect("it is small")];
    machine.window.read_into(HEAP, &mut memory).expect("it is there");
    (outcome, memory)
}

fuzz_target!(|bytes: &[u8]| {
    let mut instructions = read_all(bytes);
    instructions.truncate(MOST_INSTRUCTIONS);
    let Some(program) = program(instructions) else { return };
    let arguments = [HEAP, 0, u64::MAX, bytes.len() as u64, 1 << 32];
    let compiled = Compiled::new(&program).expect("this machine has a compiler");
    let [stepped, compiled] = [None, Some(compiled)].map(|each| run(&program, each, arguments));
    assert_eq!(stepped.0, compiled.0);
    assert!(stepped.1 == compiled.1, "the memory differs");
    if let Err(fault) = stepped.0 {
        assert!(!fault.to_string().is_empty());
    }
});
