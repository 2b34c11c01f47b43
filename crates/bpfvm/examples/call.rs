// SPDX-License-Identifier: GPL-2.0-only
//! Loads an object file for the newest kernel, compiles it, and calls one of its functions, which the address of its
//! arguments is given: `cargo run --package bpfvm --example call OBJECT [FUNCTION ARGUMENT...]`.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use bpfvm::jit::Compiled;
use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::machine::{KernelFunction, Machine, World};
use bpfvm::program::link;
use bpfvm::{Object, functions, helpers};

/// A kernel that has nothing but what needs no scheduler.
struct Bare;

impl World for Bare {
    fn helper(number: u32) -> Option<KernelFunction<Self>> {
        helpers::find(number)
    }

    fn function(name: &str) -> Option<KernelFunction<Self>> {
        functions::find(name)
    }

    fn random(&mut self) -> u32 {
        4
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let bytes = std::fs::read(words.next().ok_or("which object?")?)?;
    let kernel = Kernel::read(KERNELS.len() - 1);
    let start = Instant::now();
    let object = Arc::new(Object::parse(&bytes)?);
    let program = Arc::new(link(&object, &kernel, &|_| None));
    let linked = start.elapsed();
    let compiled = Arc::new(Compiled::new(&program)?);
    let instructions: usize = program.functions.iter().map(|each| each.steps.len()).sum();
    println!(
        "{instructions} instructions: linked in {linked:?}, {} bytes after {:?}",
        compiled.bytes(),
        start.elapsed()
    );
    let mut machine = Machine::new(Arc::clone(&program), Bare)?;
    machine.use_compiled(compiled);
    let Some(name) = words.next() else { return Ok(()) };
    let function = program.find(&name).ok_or_else(|| format!("there is no function {name}"))?;
    let arguments = words.map(|word| word.parse()).collect::<Result<Vec<u64>, _>>()?;
    let outcome = machine.call_with(function, &arguments)?;
    println!("{} after {} instructions", outcome.value, outcome.instructions);
    Ok(())
}
