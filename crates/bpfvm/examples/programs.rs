// SPDX-License-Identifier: GPL-2.0-only
//! Calls all programs of an object that need no arguments, on a machine of four CPUs, and prints what each returns:
//! `cargo run --package bpfvm --example programs OBJECT [KERNEL]`.

use std::error::Error;
use std::sync::Arc;

use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::machine::{KernelFunction, Machine, World};
use bpfvm::program::link;
use bpfvm::{Object, functions, helpers};

struct Four;

impl World for Four {
    fn helper(number: u32) -> Option<KernelFunction<Self>> {
        helpers::find(number)
    }

    fn function(name: &str) -> Option<KernelFunction<Self>> {
        functions::find(name)
    }

    fn cpus(&self) -> u64 {
        4
    }

    fn random(&mut self) -> u32 {
        4
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which object?")?;
    let object = Arc::new(Object::parse(&std::fs::read(path)?)?);
    let name = std::env::args().nth(2);
    let number = match &name {
        Some(name) => KERNELS.iter().position(|each| each.name == name).ok_or("which kernel?")?,
        None => KERNELS.len() - 1,
    };
    let program = Arc::new(link(&object, &Kernel::read(number), &|_| None));
    let mut machine = Machine::new(Arc::clone(&program), Four)?;
    for (number, function) in program.functions.iter().enumerate() {
        if object.code[function.code].name == "syscall" {
            let outcome = machine.call(number, [0; 5]).map_err(|fault| fault.to_string())?;
            println!("{}={}", function.name, outcome.value & u64::from(u32::MAX));
        }
    }
    Ok(())
}
