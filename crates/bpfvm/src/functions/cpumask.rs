// SPDX-License-Identifier: GPL-2.0-only
//! Sets of CPUs (kernel/bpf/cpumask.c). They have room for all CPUs that a kernel may know; only those that the machine
//! has are looked at.

use crate::kept::Kind;
use crate::machine::{Arguments, KernelFunction, Machine, World};
use crate::memory::length;

/// The function with a name behind `bpf_cpumask_`.
pub fn find<W: World>(name: &str) -> Option<KernelFunction<W>> {
    Some(match name {
        "create" => create,
        "acquire" => acquire,
        "release" => |machine, [set, ..]| {
            machine.release(set);
            0
        },
        "first" => |machine, [set, ..]| first(machine, set, |word| word),
        "first_zero" => |machine, [set, ..]| first(machine, set, |word| !word),
        "first_and" => |machine, [one, two, ..]| first_and(machine, one, two),
        "set_cpu" => |machine, [cpu, set, ..]| {
            flip(machine, set, cpu, true);
            0
        },
        "clear_cpu" => |machine, [cpu, set, ..]| {
            flip(machine, set, cpu, false);
            0
        },
        "test_cpu" => |machine, [cpu, set, ..]| test(machine, set, cpu),
        "test_and_set_cpu" => |machine, [cpu, set, ..]| flip(machine, set, cpu, true),
        "test_and_clear_cpu" => |machine, [cpu, set, ..]| flip(machine, set, cpu, false),
        "setall" => |machine, [set, ..]| fill(machine, set, |_| u64::MAX),
        "clear" => |machine, [set, ..]| fill(machine, set, |_| 0),
        "and" => |machine, [to, one, two, ..]| join(machine, to, [one, two], |one, two| one & two),
        "or" => |machine, [to, one, two, ..]| join(machine, to, [one, two], |one, two| one | two),
        "xor" => |machine, [to, one, two, ..]| join(machine, to, [one, two], |one, two| one ^ two),
        "copy" => |machine, [to, from, ..]| join(machine, to, [from, from], |one, _| one),
        "equal" => |machine, [one, two, ..]| is_none(machine, [one, two], |one, two| one ^ two),
        "intersects" => |machine, [one, two, ..]| {
            u64::from(is_none(machine, [one, two], |one, two| one & two) == 0)
        },
        "subset" => |machine, [one, two, ..]| is_none(machine, [one, two], |one, two| one & !two),
        "empty" => |machine, [set, ..]| is_none(machine, [set, set], |one, _| one),
        "full" => |machine, [set, ..]| is_none(machine, [set, set], |one, _| !one),
        "any_distribute" => |machine, [set, ..]| distribute(machine, [set, set]),
        "any_and_distribute" => |machine, [one, two, ..]| distribute(machine, [one, two]),
        "weight" => |machine, [set, ..]| {
            words(machine, set).iter().map(|word| u64::from(word.count_ones())).sum()
        },
        _ => return None,
    })
}

/// Bytes beside a set for how often it is referred to (kernel/bpf/cpumask.c, `struct bpf_cpumask`).
const USAGE: u64 = 8;

fn create<W: World>(machine: &mut Machine<W>, _: Arguments) -> u64 {
    let bytes = machine.program().cpumask + USAGE;
    machine.allocate(bytes, Kind::Cpumask)
}

fn acquire<W: World>(machine: &mut Machine<W>, [set, ..]: Arguments) -> u64 {
    if machine.allocated.kind(set) != Some(Kind::Cpumask) || !machine.allocated.acquire(set) {
        return machine.misuse(format!("there is no set of CPUs at {set:#x}"));
    }
    set
}

/// The words of a set, without bits beyond the CPUs that there are.
fn words<W: World>(machine: &mut Machine<W>, set: u64) -> Vec<u64> {
    let cpus = machine.world.cpus();
    let count = cpus.div_ceil(64);
    (0..count).map(|word| machine.read(set.wrapping_add(8 * word)) & present(cpus, word)).collect()
}

/// The bits of a word that stand for CPUs.
fn present(cpus: u64, word: u64) -> u64 {
    match cpus - 64 * word {
        bits @ ..64 => (1 << bits) - 1,
        _ => u64::MAX,
    }
}

/// The first bit at or behind a place, or as many as there are.
fn find_bit(words: &[u64], from: u64, cpus: u64) -> u64 {
    let at = (from..cpus).find(|&cpu| words[length(cpu / 64)] >> (cpu % 64) & 1 == 1);
    at.unwrap_or(cpus)
}

fn first<W: World>(machine: &mut Machine<W>, set: u64, of: fn(u64) -> u64) -> u64 {
    let words: Vec<u64> = words(machine, set).into_iter().map(of).collect();
    find_bit(&words, 0, machine.world.cpus())
}

fn both<W: World>(
    machine: &mut Machine<W>,
    [one, two]: [u64; 2],
    of: fn(u64, u64) -> u64,
) -> Vec<u64> {
    let [one, two] = [one, two].map(|set| words(machine, set));
    one.into_iter().zip(two).map(|(one, two)| of(one, two)).collect()
}

fn first_and<W: World>(machine: &mut Machine<W>, one: u64, two: u64) -> u64 {
    let words = both(machine, [one, two], |one, two| one & two);
    find_bit(&words, 0, machine.world.cpus())
}

/// The CPU behind the one that was found here before, so that all have their turn.
fn distribute<W: World>(machine: &mut Machine<W>, sets: [u64; 2]) -> u64 {
    let words = both(machine, sets, |one, two| one & two);
    let (cpus, cpu) = (machine.world.cpus(), length(machine.world.cpu()));
    let before = machine.distributed[cpu];
    let found = match find_bit(&words, before + 1, cpus) {
        found if found < cpus => found,
        _ => find_bit(&words, 0, cpus),
    };
    if found < cpus {
        machine.distributed[cpu] = found;
    }
    found
}

fn test<W: World>(machine: &mut Machine<W>, set: u64, cpu: u64) -> u64 {
    let cpu = cpu & u64::from(u32::MAX);
    if cpu >= machine.world.cpus() {
        return 0;
    }
    machine.read(set.wrapping_add(cpu / 64 * 8)) >> (cpu % 64) & 1
}

/// Puts a CPU in or out; returns whether it was in.
fn flip<W: World>(machine: &mut Machine<W>, set: u64, cpu: u64, is_in: bool) -> u64 {
    let cpu = cpu & u64::from(u32::MAX);
    if cpu >= machine.world.cpus() {
        return 0;
    }
    let (at, bit) = (set.wrapping_add(cpu / 64 * 8), 1 << (cpu % 64));
    let word = machine.read(at);
    let after = if is_in { word | bit } else { word & !bit };
    machine.write(at, &after.to_le_bytes());
    u64::from(word & bit != 0)
}

fn fill<W: World>(machine: &mut Machine<W>, set: u64, of: fn(u64) -> u64) -> u64 {
    let cpus = machine.world.cpus();
    for word in 0..cpus.div_ceil(64) {
        let value = of(word) & present(cpus, word);
        machine.write(set.wrapping_add(8 * word), &value.to_le_bytes());
    }
    0
}

/// Sets one to what is made of two; returns whether any CPU is in it.
fn join<W: World>(
    machine: &mut Machine<W>,
    to: u64,
    sets: [u64; 2],
    of: fn(u64, u64) -> u64,
) -> u64 {
    let words = both(machine, sets, of);
    for (at, word) in words.iter().enumerate() {
        machine.write(to.wrapping_add(8 * at as u64), &word.to_le_bytes());
    }
    u64::from(words.iter().any(|&word| word != 0))
}

/// Whether no CPU is in what is made of two.
fn is_none<W: World>(machine: &mut Machine<W>, sets: [u64; 2], of: fn(u64, u64) -> u64) -> u64 {
    let cpus = machine.world.cpus();
    let words = both(machine, sets, of).into_iter().zip(0..);
    u64::from(words.map(|(word, at)| word & present(cpus, at)).all(|word| word == 0))
}
