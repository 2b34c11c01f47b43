// SPDX-License-Identifier: GPL-2.0-only
//! Maps as programs use them, by the steps and by what is compiled of them.

mod assembly;

use assembly::*;
use bpfvm::helpers;
use bpfvm::instruction::Instruction;
use bpfvm::machine::{KernelFunction, Machine, World};
use bpfvm::object::{Map, MapKind, Shape};
use bpfvm::program::FUNCTION;

/// Three CPUs, of which the second runs.
struct Three;

impl World for Three {
    fn helper(number: u32) -> Option<KernelFunction<Self>> {
        helpers::find(number)
    }

    fn function(_: &str) -> Option<KernelFunction<Self>> {
        None
    }

    fn random(&mut self) -> u32 {
        4
    }

    fn cpus(&self) -> u64 {
        3
    }

    fn cpu(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        12_345
    }
}

const HASH: u64 = 1;
const ARRAY: u64 = 2;
const PERCPU_HASH: u64 = 5;
const PERCPU_ARRAY: u64 = 6;
const LRU_HASH: u64 = 9;
const QUEUE: u64 = 22;
const STACK: u64 = 23;
const TASK_STORAGE: u64 = 29;

const LOOKUP: i32 = 1;
const UPDATE: i32 = 2;
const DELETE: i32 = 3;
const PUSH: i32 = 87;
const POP: i32 = 88;
const PEEK: i32 = 89;

const MISSING: u64 = (-2_i64).cast_unsigned();
const TOO_BIG: u64 = (-7_i64).cast_unsigned();
const THERE: u64 = (-17_i64).cast_unsigned();
const INVALID: u64 = (-22_i64).cast_unsigned();

/// A map with keys of four bytes and values of eight.
fn described(kind: u64, entries: u64) -> Map {
    let keys = if matches!(kind, QUEUE | STACK) { 0 } else { 4 };
    Map {
        key: Shape { size: keys, of: None },
        value: Shape { size: 8, of: None },
        entries,
        ..Map::new("map", MapKind(kind))
    }
}

fn machines(maps: &[Map], functions: &[(&str, Vec<Instruction>)]) -> [Machine<Three>; 2] {
    machines_of(&program_with(maps.to_vec(), functions), || Three)
}

/// Calls a helper with map 0, a key, a value and flags. What a lookup finds is followed.
fn ask(number: i32, key: i32, value: i32, flags: i32) -> Vec<Instruction> {
    let is_queue = matches!(number, PUSH | POP | PEEK);
    let mut steps = vec![store_value(4, 10, -4, key), store_value(8, 10, -16, value)];
    steps.extend(map(1, 0));
    steps.extend([copy(2, 10), compute(ADD, 2, if is_queue { -16 } else { -4 })]);
    steps.extend([copy(3, 10), compute(ADD, 3, -16), set(4, flags)]);
    if is_queue {
        steps.push(set(3, flags));
    }
    steps.push(helper(number));
    match number {
        LOOKUP => steps.extend([jump_if(EQUAL, 0, 0, 1), load(8, 0, 0, 0)]),
        POP | PEEK => steps.push(load(8, 0, 10, -16)),
        _ => {}
    }
    steps
}

/// What each of some requests comes to; both ways must agree.
#[track_caller]
fn answers(maps: &[Map], requests: &[(i32, i32, i32, i32)]) -> Vec<u64> {
    let functions: Vec<(String, Vec<Instruction>)> = requests
        .iter()
        .enumerate()
        .map(|(at, &(number, key, value, flags))| {
            (format!("f{at}"), [ask(number, key, value, flags), vec![exit()]].concat())
        })
        .collect();
    let named: Vec<_> = functions.iter().map(|(name, each)| (&**name, each.clone())).collect();
    let [steps, compiled] = machines(maps, &named).map(|mut machine| {
        let calls =
            (0..requests.len()).map(|function| machine.call(function, [0; 5]).unwrap().value);
        calls.collect::<Vec<_>>()
    });
    assert_eq!(steps, compiled);
    steps
}

#[test]
fn arrays_have_all_their_elements() {
    let requests = [
        (LOOKUP, 3, 0, 0),
        (UPDATE, 3, 7, 0),
        (LOOKUP, 3, 0, 0),
        (LOOKUP, 2, 0, 0),
        (LOOKUP, 4, 0, 0),
        (UPDATE, 4, 7, 0),
        (UPDATE, 1, 7, 1),
        (UPDATE, 1, 9, 2),
        (LOOKUP, 1, 0, 0),
        (UPDATE, 1, 9, 3),
        (DELETE, 1, 0, 0),
    ];
    for kind in [ARRAY, PERCPU_ARRAY] {
        let found = answers(&[described(kind, 4)], &requests);
        assert_eq!(found, [0, 0, 7, 0, 0, TOO_BIG, THERE, 0, 9, INVALID, INVALID]);
    }
}

#[test]
fn hashes_have_what_was_put_in() {
    let requests = [
        (LOOKUP, 3, 0, 0),
        (UPDATE, 3, 7, 2),
        (UPDATE, 3, 7, 1),
        (UPDATE, 3, 8, 1),
        (UPDATE, 3, 9, 0),
        (LOOKUP, 3, 0, 0),
        (UPDATE, -1, 5, 0),
        (UPDATE, 4, 5, 0),
        (DELETE, 3, 0, 0),
        (DELETE, 3, 0, 0),
        (LOOKUP, 3, 0, 0),
        (UPDATE, 4, 6, 4),
        (LOOKUP, 4, 0, 0),
        (LOOKUP, -1, 0, 0),
    ];
    for kind in [HASH, PERCPU_HASH] {
        let found = answers(&[described(kind, 2)], &requests);
        assert_eq!(found, [0, MISSING, 0, THERE, 0, 9, 0, TOO_BIG, 0, MISSING, 0, 0, 6, 5]);
    }
}

#[test]
fn what_was_not_used_for_the_longest_time_makes_room() {
    let requests = [
        (UPDATE, 1, 1, 0),
        (UPDATE, 2, 2, 0),
        (LOOKUP, 1, 0, 0),
        (UPDATE, 3, 3, 0),
        (LOOKUP, 2, 0, 0),
        (LOOKUP, 1, 0, 0),
        (LOOKUP, 3, 0, 0),
    ];
    assert_eq!(answers(&[described(LRU_HASH, 2)], &requests), [0, 0, 1, 0, 0, 1, 3]);
}

#[test]
fn queues_and_stacks_have_an_order() {
    let requests = [
        (POP, 0, 77, 0),
        (PUSH, 0, 1, 0),
        (PUSH, 0, 2, 0),
        (PUSH, 0, 3, 0),
        (PEEK, 0, 0, 0),
        (PUSH, 0, 3, 2),
        (POP, 0, 0, 0),
        (POP, 0, 0, 0),
        (PUSH, 0, 3, 1),
    ];
    let queue = answers(&[described(QUEUE, 2)], &requests);
    assert_eq!(queue, [0, 0, 0, TOO_BIG, 1, 0, 2, 3, INVALID]);
    let stack = answers(&[described(STACK, 2)], &requests);
    assert_eq!(stack, [0, 0, 0, TOO_BIG, 2, 0, 3, 2, INVALID]);
}

#[test]
fn each_cpu_has_a_value_of_its_own() {
    for kind in [PERCPU_ARRAY, PERCPU_HASH] {
        // Sets the value of this CPU, and reads those of CPUs 0, 1 and 3 as digits; there is no CPU 3.
        let mut main = ask(UPDATE, 0, 7, 0);
        main.push(set(6, 0));
        for cpu in [0, 1, 3] {
            main.extend(map(1, 0));
            main.extend([copy(2, 10), compute(ADD, 2, -4), set(3, cpu), helper(195)]);
            main.extend([jump_if(EQUAL, 0, 0, 2), load(8, 0, 0, 0), compute(ADD, 0, 1)]);
            main.extend([compute(0x20, 6, 10), compute_with(ADD, 6, 0)]);
        }
        main.extend([copy(0, 6), exit()]);
        for mut machine in machines(&[described(kind, 1)], &[("main", main.clone())]) {
            assert_eq!(machine.call(0, [0; 5]).unwrap().value, 180);
        }
    }
}

#[test]
fn tasks_have_values_that_are_made_when_they_are_wanted() {
    let get = |task: i32, flags: i32| {
        let mut steps = map(1, 0).to_vec();
        steps.extend([set(2, task), store_value(8, 10, -8, 40), copy(3, 10), compute(ADD, 3, -8)]);
        steps.extend([set(4, flags), helper(156), jump_if(EQUAL, 0, 0, 3)]);
        steps.extend([load(8, 1, 0, 0), compute(ADD, 1, 1), store(8, 0, 0, 1)]);
        steps.extend([jump_if(EQUAL, 0, 0, 1), load(8, 0, 0, 0), exit()]);
        steps
    };
    let delete = [map(1, 0).to_vec(), vec![set(2, 100), helper(157), exit()]].concat();
    let functions =
        [("find", get(100, 0)), ("make", get(100, 1)), ("null", get(0, 1)), ("delete", delete)];
    for mut machine in machines(&[described(TASK_STORAGE, 0)], &functions) {
        let calls =
            [0, 1, 0, 2, 3, 3, 0, 1].map(|function| machine.call(function, [0; 5]).unwrap().value);
        assert_eq!(calls, [0, 41, 42, 0, 0, MISSING, 0, 41]);
    }
}

#[test]
fn functions_are_called_with_every_element() {
    let main = [
        ask(UPDATE, 2, 20, 0),
        ask(UPDATE, 1, 10, 0),
        vec![store_value(8, 10, -24, 0)],
        map(1, 0).to_vec(),
        wide(2, FUNCTION | 1).to_vec(),
        vec![copy(3, 10), compute(ADD, 3, -24), set(4, 0), helper(164)],
        vec![load(8, 1, 10, -24), compute(0x20, 0, 10_000), compute_with(ADD, 0, 1), exit()],
    ];
    // Adds the key and 100 times the value to the context.
    let each = vec![
        load(4, 0, 2, 0),
        load(8, 1, 3, 0),
        compute(0x20, 1, 100),
        compute_with(ADD, 0, 1),
        atomic(8, 0, 4, 0, 0),
        set(0, 0),
        exit(),
    ];
    for mut machine in
        machines(&[described(HASH, 5)], &[("main", main.concat()), ("each", each.clone())])
    {
        assert_eq!(machine.call(0, [0; 5]).unwrap().value, 2 * 10_000 + 3003);
    }
}

#[test]
fn locks_are_held_by_nobody_else_and_given_back() {
    let lock = |number| vec![copy(1, 10), compute(ADD, 1, -8), helper(number)];
    let said = |main: Vec<Instruction>| {
        let said = machines(&[], &[("main", [main, vec![exit()]].concat())]).map(|mut machine| {
            machine.call(0, [0; 5]).map(|_| ()).map_err(|fault| fault.to_string())
        });
        assert_eq!(said[0], said[1]);
        said[0].clone()
    };
    assert_eq!(said([lock(93), lock(94), lock(93), lock(94)].concat()), Ok(()));
    assert!(said([lock(93), lock(93)].concat()).unwrap_err().contains("and holds the one at"));
    assert!(said(lock(94)).unwrap_err().contains("not held"));
    assert!(said(lock(93)).unwrap_err().contains("it ends and holds the lock"));
}

#[test]
fn maps_that_cannot_be_are_refused_by_name() {
    let refused = |map: Map| {
        let program = program_with(vec![map], &[("main", vec![exit()])]);
        Machine::new(program, Three).map(|_| ()).unwrap_err().to_string()
    };
    let huge = described(ARRAY, 1 << 31);
    assert_eq!(refused(huge), "the map map cannot be made: there is no memory left");
    let more = described(ARRAY, 1 << 63);
    assert_eq!(refused(more), "the map map cannot be made: this cannot be asked of it");
    let empty = Map { value: Shape::default(), ..described(HASH, 4) };
    assert_eq!(refused(empty), "the map map cannot be made: this cannot be asked of it");
    let wide = Map { value: Shape { size: u64::MAX, of: None }, ..described(ARRAY, 4) };
    assert_eq!(refused(wide), "the map map cannot be made: there is no memory left");
}

#[test]
fn what_is_no_map_or_not_of_its_kind_ends_the_program() {
    for (kind, steps, wanted) in [
        (ARRAY, vec![set(1, 5), set(2, 0), helper(LOOKUP)], "it takes 0x5 for a map"),
        (ARRAY, ask(PUSH, 0, 1, 0), "the map has no next value"),
        (ARRAY, [map(1, 0).to_vec(), vec![set(2, 9), helper(156)]].concat(), "no values of tasks"),
        (
            ARRAY,
            [map(1, 0).to_vec(), vec![set(2, -8), helper(LOOKUP)]].concat(),
            "it reads 4 bytes",
        ),
        (ARRAY, vec![set(1, 2), set(2, 9), set(4, 0), helper(181)], "it takes 0x9 for a function"),
    ] {
        let main = [steps, vec![exit()]].concat();
        for mut machine in machines(&[described(kind, 1)], &[("main", main.clone())]) {
            let fault = machine.call(0, [0; 5]).unwrap_err().to_string();
            assert!(fault.contains(wanted), "{fault}");
        }
    }
}
