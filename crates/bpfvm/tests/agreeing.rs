// SPDX-License-Identifier: GPL-2.0-only
//! What is compiled comes to what the interpreter comes to, for drawn programs of all kinds of instructions.
//! `BPF_PROGRAMS` says how many.

mod assembly;

use std::sync::Arc;

use assembly::random::{Draw, Reach};
use assembly::*;
use bpfvm::jit::Compiled;
use bpfvm::machine::{Arguments, Fault, KernelFunction, Machine, Outcome, World};
use bpfvm::memory::HEAP;
use bpfvm::program::Program;

#[derive(Default)]
struct Notes(Vec<Arguments>);

impl World for Notes {
    fn helper(number: u32) -> Option<KernelFunction<Self>> {
        (number == 1).then_some(|machine, arguments| {
            machine.world.0.push(arguments);
            arguments.iter().fold(machine.executed(), |sum, value| sum.wrapping_mul(31) ^ value)
        })
    }

    fn function(_: &str) -> Option<KernelFunction<Self>> {
        None
    }

    fn random(&mut self) -> u32 {
        4
    }
}

/// What a program has come to: what it returns or does wrong, what it has called, and the memory.
type End = (Result<Outcome, Fault>, Vec<Arguments>, Vec<u8>);

fn run(program: &Arc<Program>, compiled: Option<&Arc<Compiled>>, arguments: Arguments) -> End {
    let mut machine = Machine::new(Arc::clone(program), Notes::default()).unwrap();
    machine.set_limit(3000);
    if let Some(compiled) = compiled {
        machine.use_compiled(Arc::clone(compiled));
    }
    let outcome = machine.call(0, arguments);
    let mut memory = vec![0; usize::try_from(machine.heap.used()).unwrap()];
    machine.window.read_into(HEAP, &mut memory).unwrap();
    (outcome, machine.world.0, memory)
}

#[test]
fn drawn_programs_come_to_the_same() {
    let programs = std::env::var("BPF_PROGRAMS").map_or(1500, |count| count.parse().unwrap());
    let mut ended = [0, 0];
    for seed in 0..programs {
        let reach = if seed % 3 == 0 { Reach::Tame } else { Reach::Anything };
        let functions = Draw::new(seed, reach).program(40 + usize::try_from(seed % 60).unwrap());
        let program = program(&functions);
        let compiled = Arc::new(Compiled::new(&program).unwrap());
        let arguments = [seed, 0, u64::MAX - seed, HEAP + seed % 4096, 1 << 32];
        let [interpreted, compiled] =
            [None, Some(&compiled)].map(|compiled| run(&program, compiled, arguments));
        assert_eq!(interpreted.0, compiled.0, "seed {seed}: {functions:#?}");
        assert_eq!(interpreted.1, compiled.1, "seed {seed}");
        assert!(interpreted.2 == compiled.2, "seed {seed}: the memory differs");
        ended[usize::from(interpreted.0.is_ok())] += 1;
        assert!(reach == Reach::Anything || interpreted.0.is_ok(), "{:?}", interpreted.0);
    }
    // Enough of both kinds.
    assert!(ended.iter().all(|&count| count > programs / 10), "{ended:?}");
}
