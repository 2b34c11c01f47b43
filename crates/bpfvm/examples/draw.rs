// SPDX-License-Identifier: GPL-2.0-only
//! Draws programs that every kernel takes, and tells what they return here: a line each, with the seed, the value, and
//! the instructions in hexadecimal digits. The program stores the value where its context is, of eight bytes.
//! `cargo run --package bpfvm --example draw COUNT`

#[path = "../tests/assembly/mod.rs"]
mod assembly;

use std::error::Error;
use std::io::{self, BufWriter, Write};

use assembly::random::{Draw, Reach};
use assembly::*;
use bpfvm::instruction::Instruction;
use bpfvm::machine::{KernelFunction, Machine, World};
use bpfvm::memory::HEAP;

struct Nothing;

impl World for Nothing {
    fn helper(_: u32) -> Option<KernelFunction<Self>> {
        None
    }

    fn function(_: &str) -> Option<KernelFunction<Self>> {
        None
    }

    fn random(&mut self) -> u32 {
        0
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let count: u64 = std::env::args().nth(1).ok_or("how many programs?")?.parse()?;
    let mut out = BufWriter::new(io::stdout().lock());
    for seed in 0..count {
        let mut functions = vec![("entry", entry(seed))];
        functions.extend(Draw::new(seed, Reach::Tame).program(40 + usize::try_from(seed % 60)?));
        let mut machine = Machine::new(program(&functions), Nothing)?;
        let context = machine.heap.allocate(&mut machine.window, 8)?;
        assert!(context >= HEAP);
        machine.call(0, [context, 0, 0, 0, 0]).map_err(|fault| fault.to_string())?;
        let value = machine.read(context);
        write!(out, "{seed} {value:016x} ")?;
        functions
            .iter()
            .flat_map(|(_, each)| each)
            .try_for_each(|each| write_one(&mut out, each))?;
        writeln!(out)?;
    }
    Ok(())
}

/// Calls the drawn function, which lies behind it, and stores what it returns.
fn entry(seed: u64) -> Vec<Instruction> {
    let mut steps = vec![copy(6, 1)];
    (1..=5).for_each(|register| steps.extend(wide(register, seed.wrapping_mul(u64::MAX / 7))));
    steps.extend([call(3), store(8, 6, 0, 0), set(0, 0), exit()]);
    steps
}

fn write_one(out: &mut impl Write, each: &Instruction) -> io::Result<()> {
    let registers = each.source << 4 | each.destination;
    write!(out, "{:02x}{registers:02x}", each.code)?;
    let offset = each.offset.to_le_bytes();
    offset
        .iter()
        .chain(&each.immediate.to_le_bytes())
        .try_for_each(|byte| write!(out, "{byte:02x}"))
}
