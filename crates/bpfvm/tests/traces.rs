// SPDX-License-Identifier: GPL-2.0-only
//! Callbacks of schedulers, step by step and compiled: the same calls of a kernel that answers anything, the same
//! results, counts and memory. `BPF_OBJECTS` names a directory with more objects, `BPF_SEEDS` how many times each is
//! tried.

mod assembly;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assembly::NEWEST;
use bpfvm::jit::Compiled;
use bpfvm::kept::Printed;
use bpfvm::machine::{Arguments, Fault, KernelFunction, Machine, Outcome, World};
use bpfvm::memory::{ARENA, HEAP};
use bpfvm::object::Value;
use bpfvm::program::{Program, link};
use bpfvm::{Object, functions, helpers};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Where all structs of the kernel lie, far behind what arenas use, and their bytes.
const STRUCTS: u64 = ARENA + (1 << 31);
const BYTES: u64 = 1 << 16;
const CALLBACKS: usize = 30;
const CPUS: u64 = 4;

/// A kernel whose functions note what they are given and answer with what is drawn.
struct Anything {
    drawn: Xoshiro256PlusPlus,
    noted: Vec<(u64, Arguments)>,
}

impl Anything {
    fn new(seed: u64) -> Self {
        let drawn = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { drawn, noted: Vec::new() }
    }

    /// A number as kernels have them: small, of 64 bits, or the address of something.
    fn draw(&mut self) -> u64 {
        let number = self.drawn.next_u64();
        match number % 64 {
            ..8 => 0,
            8..24 => (number >> 8) % 8,
            // It may lead anywhere.
            24 => number >> (8 + (number >> 8) % 48),
            _ => STRUCTS + (number >> 8) % (BYTES / 2) / 8 * 8,
        }
    }

    fn answer(machine: &mut Machine<Self>, arguments: Arguments) -> u64 {
        machine.world.noted.push((machine.executed(), arguments));
        machine.world.draw()
    }
}

impl World for Anything {
    fn helper(number: u32) -> Option<KernelFunction<Self>> {
        helpers::find(number).or(Some(Self::answer))
    }

    fn function(name: &str) -> Option<KernelFunction<Self>> {
        functions::find(name).or(Some(Self::answer))
    }

    fn cpus(&self) -> u64 {
        CPUS
    }

    fn now(&self) -> u64 {
        1_000_000 * self.noted.len() as u64
    }

    fn random(&mut self) -> u32 {
        self.drawn.next_u32()
    }

    fn release(machine: &mut Machine<Self>, address: u64) {
        machine.world.noted.push((machine.executed(), [address, 0, 0, 0, 0]));
    }
}

/// What some callbacks have come to.
#[derive(Debug, PartialEq, Eq)]
struct Trace {
    outcomes: Vec<Result<Outcome, Fault>>,
    noted: Vec<(u64, Arguments)>,
    printed: Printed,
    memory: Vec<u8>,
}

/// Calls callbacks that are drawn, up to the first fault.
fn trace(program: &Arc<Program>, compiled: Option<&Arc<Compiled>>, seed: u64) -> Trace {
    let mut machine = Machine::new(Arc::clone(program), Anything::new(seed)).unwrap();
    machine.set_limit(200_000);
    if let Some(compiled) = compiled {
        machine.use_compiled(Arc::clone(compiled));
    }
    machine.window.cover(STRUCTS, BYTES).unwrap();
    let words: Vec<u8> = (0..BYTES / 8).flat_map(|_| machine.world.draw().to_le_bytes()).collect();
    machine.window.write(STRUCTS, &words).unwrap();
    let callbacks = callbacks(program);
    let tasks = [STRUCTS, STRUCTS + BYTES / 4];
    let begin = ["init", "init_task", "enable", "init_task", "enable"].iter();
    let mut calls: Vec<_> = begin.filter_map(|name| callbacks.get(name)).copied().collect();
    let all: Vec<_> = callbacks.values().copied().collect();
    calls.extend((0..CALLBACKS).map(|_| all[machine.world.drawn.next_u32() as usize % all.len()]));
    let mut outcomes = Vec::new();
    for (number, callback) in calls.into_iter().enumerate() {
        let mut arguments: Vec<u64> = (0..6).map(|_| machine.world.draw()).collect();
        arguments[0] = tasks[number / 3 % 2];
        outcomes.push(machine.call_with(callback, &arguments));
        if outcomes.last().is_some_and(Result::is_err) {
            break;
        }
    }
    let mut memory = vec![0; usize::try_from(machine.heap.used()).unwrap()];
    machine.window.read_into(HEAP, &mut memory).unwrap();
    memory.extend(machine.window.bytes(STRUCTS, BYTES).unwrap());

    Trace { outcomes, noted: machine.world.noted, printed: machine.printed, memory }
}

/// The functions in the tables that the object hands the kernel, by their members.
fn callbacks(program: &Program) -> BTreeMap<&str, usize> {
    let members = program.object.operations.iter().flat_map(|table| &table.members);
    let functions = members.filter_map(|(member, value)| match value {
        Value::Function(name) => Some((member.as_str(), program.find(name.as_deref()?)?)),
        Value::Bytes(_) => None,
    });
    functions.collect()
}

fn objects() -> Vec<PathBuf> {
    let ours = std::env::var_os("RUNOFF_TEST_OBJECTS").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../build/test-objects")),
        PathBuf::from,
    );
    let more = std::env::var_os("BPF_OBJECTS").map(PathBuf::from);
    let list = |folder: &Path| {
        let entries =
            std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        let mut found: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    };
    [Some(ours.join("schedulers")), more].iter().flatten().flat_map(|folder| list(folder)).collect()
}

#[test]
fn callbacks_of_schedulers_come_to_the_same() {
    let seeds = std::env::var("BPF_SEEDS").map_or(12, |count| count.parse().unwrap());
    let mut seen = 0;
    for path in objects() {
        let object = Arc::new(Object::parse(&std::fs::read(&path).unwrap()).unwrap());
        let program = Arc::new(link(&object, &NEWEST, &|_| Some(STRUCTS)));
        let compiled = Arc::new(Compiled::new(&program).unwrap());
        let (mut calls, mut ended, mut instructions) = (0, 0, 0);
        for seed in 0..seeds {
            let [stepped, compiled] =
                [None, Some(&compiled)].map(|compiled| trace(&program, compiled, seed));
            assert_eq!(stepped.outcomes, compiled.outcomes, "{path:?}, seed {seed}");
            assert_eq!(stepped.noted, compiled.noted, "{path:?}, seed {seed}");
            assert_eq!(stepped.printed, compiled.printed, "{path:?}, seed {seed}");
            assert!(stepped.memory == compiled.memory, "{path:?}, seed {seed}: the memory differs");
            let whole: Vec<_> = stepped.outcomes.iter().flatten().collect();
            calls += stepped.noted.len();
            ended += whole.len();
            instructions += whole.iter().map(|outcome| outcome.instructions).sum::<u64>();
        }
        println!(
            "{}: {ended} callbacks ended, {instructions} instructions, {calls} calls",
            path.display()
        );
        // A trace that faults at once shows nothing.
        assert!(ended as u64 > seeds && calls > 0, "{path:?}: {ended} callbacks, {calls} calls");
        seen += 1;
    }
    assert!(seen >= 7, "{seen} objects");
}
