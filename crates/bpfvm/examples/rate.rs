// SPDX-License-Identifier: GPL-2.0-only
//! How long it takes to load an object for the newest kernel, to compile it, and to call each of its functions of the
//! section `syscall`, compiled: `cargo run --release --package bpfvm --example rate OBJECT [CALLS]`. A line for each
//! figure: a name, and nanoseconds.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bpfvm::jit::Compiled;
use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::machine::{KernelFunction, Machine, World};
use bpfvm::program::link;
use bpfvm::{Object, functions, helpers};

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
    let calls: u32 = words.next().map_or(Ok(1_000_000), |word| word.parse())?;
    let kernel = Kernel::read(KERNELS.len() - 1);
    let start = Instant::now();
    let object = Arc::new(Object::parse(&bytes)?);
    let program = Arc::new(link(&object, &kernel, &|_| None));
    print("load", start.elapsed(), 1);
    let compiled = Arc::new(Compiled::new(&program)?);
    print("load_and_compile", start.elapsed(), 1);
    let mut machine = Machine::new(Arc::clone(&program), Bare)?;
    machine.use_compiled(compiled);
    for (number, function) in program.functions.iter().enumerate() {
        if object.code[function.code].name != "syscall" {
            continue;
        }
        let start = Instant::now();
        for call in 0..calls {
            machine.call_with(number, &[call.into(), 7])?;
        }
        print(&function.name, start.elapsed(), calls);
    }
    Ok(())
}

/// Prints the nanoseconds of one of `times`.
fn print(name: &str, time: Duration, times: u32) {
    println!("{name} {:.2}", time.as_secs_f64() * 1e9 / f64::from(times));
}
