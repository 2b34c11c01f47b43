// SPDX-License-Identifier: GPL-2.0-only
//! Programs of a few instructions: what they return, how many instructions that took, and what they must not do.

mod assembly;

use assembly::*;
use bpfvm::instruction::Instruction;
use bpfvm::machine::{Arguments, KernelFunction, Machine, Outcome, World};
use bpfvm::program::FUNCTION;

/// A kernel with a few helpers that note what they are given.
#[derive(Default)]
struct Notes(Vec<Arguments>);

impl World for Notes {
    fn helper(number: u32) -> Option<KernelFunction<Self>> {
        Some(match number {
            1 => |machine, arguments| {
                machine.world.0.push(arguments);
                7
            },
            // Calls a function of the program as often as the first argument says.
            2 => |machine, [count, function, context, ..]| {
                let function = usize::try_from(function & !FUNCTION).unwrap();
                let calls = (0..count).map(|each| machine.call(function, [each, context, 0, 0, 0]));
                calls.map_while(Result::ok).map(|outcome| outcome.value).sum()
            },
            3 => |machine, [address, ..]| machine.read(address),
            _ => return None,
        })
    }

    fn function(_: &str) -> Option<KernelFunction<Self>> {
        None
    }

    fn random(&mut self) -> u32 {
        4
    }
}

fn machines(functions: &[(&str, Vec<Instruction>)]) -> [Machine<Notes>; 2] {
    machines_of(&program(functions), Notes::default)
}

fn run(instructions: Vec<Instruction>) -> Outcome {
    let outcomes = machines(&[("main", instructions)])
        .map(|mut machine| machine.call(0, [10, 20, 30, 40, 50]).unwrap());
    assert_eq!(outcomes[0], outcomes[1]);
    outcomes[0]
}

fn fault(instructions: Vec<Instruction>) -> String {
    let said = machines(&[("main", instructions)]).map(|mut machine| {
        machine.set_limit(10_000);
        let fault = machine.call(0, [0; 5]).unwrap_err();
        assert_eq!(machine.call(0, [0; 5]), Err(fault.clone()), "nothing runs after a fault");
        fault.to_string()
    });
    assert_eq!(said[0], said[1]);
    said[0].clone()
}

#[test]
fn registers_have_what_they_are_given() {
    for register in 1..=5 {
        let outcome = run(vec![copy(0, register), exit()]);
        assert_eq!(outcome, Outcome { value: u64::from(register) * 10, instructions: 2 });
    }
    assert_eq!(run(vec![exit()]).value, 0);
    assert_eq!(
        run([wide(0, 0x0123_4567_89ab_cdef).to_vec(), vec![exit()]].concat()),
        Outcome { value: 0x0123_4567_89ab_cdef, instructions: 2 }
    );
    assert_eq!(run(vec![set(0, -1), exit()]).value, u64::MAX);
}

#[test]
fn numbers_are_stored_and_loaded_in_every_size() {
    for (bytes, kept) in [(1, 0xef), (2, 0xcdef), (4, 0x89ab_cdef), (8, 0x0123_4567_89ab_cdef)] {
        let begin =
            [wide(3, 0x0123_4567_89ab_cdef).to_vec(), vec![store(bytes, 10, -8, 3)]].concat();
        let end = vec![load(8, 0, 10, -8), exit()];
        assert_eq!(run([begin.clone(), end].concat()).value, kept, "{bytes}");
        if bytes < 8 {
            let end = vec![load_signed(bytes, 0, 10, -8), exit()];
            let unused = 64 - 8 * u32::from(bytes);
            let wanted = ((kept << unused).cast_signed() >> unused).cast_unsigned();
            assert_eq!(run([begin, end].concat()).value, wanted, "{bytes}");
        }
        let stored = vec![store_value(bytes, 10, -16, -2), load(bytes, 0, 10, -16), exit()];
        assert_eq!(run(stored).value, (u64::MAX - 1) & (u64::MAX >> (64 - 8 * u32::from(bytes))));
    }
}

#[test]
fn numbers_change_in_memory_and_what_was_there_returns() {
    for (kind, memory, returned) in [
        (0x00, 25, 20),
        (0x01, 25, 5),
        (0x40, 5 | 20, 20),
        (0x51, 5 & 20, 5),
        (0xa1, 5 ^ 20, 5),
        (0xe1, 20, 5),
        (0x110, 20, 20),
    ] {
        for bytes in [4, 8] {
            let change = vec![store_value(8, 10, -8, 5), atomic(bytes, kind, 10, -8, 2)];
            let [first, second] = [vec![load(8, 0, 10, -8), exit()], vec![copy(0, 2), exit()]];
            assert_eq!(run([change.clone(), first].concat()).value, memory, "{kind:x}");
            assert_eq!(run([change, second].concat()).value, returned, "{kind:x}");
        }
    }
    let exchange = |r0| {
        vec![
            store_value(8, 10, -8, 5),
            set(0, r0),
            atomic(4, 0xf1, 10, -8, 2),
            load(8, 6, 10, -8),
            compute(0x60, 6, 32),
            compute_with(0x40, 0, 6),
            exit(),
        ]
    };
    assert_eq!(run(exchange(5)).value, 20 << 32 | 5);
    assert_eq!(run(exchange(6)).value, 5 << 32 | 5);
    let acquire = vec![store_value(8, 10, -8, -1), atomic(2, 0x100, 0, -8, 10), exit()];
    assert_eq!(run(acquire).value, 0xffff);
}

#[test]
fn jumps_lead_where_they_say() {
    // The sum of the numbers from r1 down to 1.
    let sum =
        vec![compute_with(ADD, 0, 1), compute(ADD, 1, -1), jump_if(NOT_EQUAL, 1, 0, -3), exit()];
    assert_eq!(run(sum), Outcome { value: 55, instructions: 31 });
    let over = |condition| vec![set(0, 1), condition, exit(), set(0, 2), exit()];
    assert_eq!(run(over(jump_if(EQUAL, 1, 10, 1))).value, 2);
    assert_eq!(run(over(jump_if(EQUAL, 1, 11, 1))).value, 1);
    assert_eq!(run(over(jump(1))).value, 2);
    let far = instruction(0x06, 0, 0, 0, 1);
    assert_eq!(run(over(far)).value, 2);
}

#[test]
fn functions_have_registers_and_a_stack_of_their_own() {
    let main = vec![
        store_value(8, 10, -8, 1),
        set(6, 100),
        copy(1, 10),
        compute(ADD, 1, -8),
        call(3),
        load(8, 1, 10, -8),
        compute_with(ADD, 0, 1),
        exit(),
    ];
    // Writes through the pointer that it is given, and to its own stack.
    let other = vec![
        store_value(8, 1, 0, 50),
        store_value(8, 10, -8, 7),
        copy(0, 6),
        set(6, 5),
        compute(ADD, 0, 3),
        exit(),
    ];
    for mut machine in machines(&[("main", main), ("other", other)]) {
        assert_eq!(machine.call(0, [0; 5]).unwrap(), Outcome { value: 53, instructions: 14 });
        assert_eq!(machine.executed(), 14);
        assert_eq!(machine.program().find("other"), Some(1));
    }
}

#[test]
fn the_kernel_is_called_and_calls_back() {
    for mut noted in machines(&[("main", vec![helper(1), compute_with(ADD, 0, 1), exit()])]) {
        assert_eq!(noted.call(0, [1, 2, 3, 4, 5]).unwrap().value, 7);
        assert_eq!(noted.world.0, [[1, 2, 3, 4, 5]]);
    }
    let main = [
        vec![store_value(8, 10, -8, 0), set(1, 4)],
        wide(2, FUNCTION | 1).to_vec(),
        vec![copy(3, 10), compute(ADD, 3, -8), helper(2), load(8, 1, 10, -8)],
        vec![compute(0x60, 1, 32), compute_with(0x40, 0, 1), exit()],
    ];
    // Adds its first argument to the number that the second points to, and returns 10 times as much.
    let each = vec![atomic(8, 0, 2, 0, 1), copy(0, 1), compute(0x20, 0, 10), exit()];
    let wanted = Outcome { value: 6 << 32 | 60, instructions: 10 + 4 * 4 };
    for mut calls_back in machines(&[("main", main.concat()), ("each", each)]) {
        assert_eq!(calls_back.call(0, [0; 5]), Ok(wanted));
    }
    for mut with in machines(&[("main", vec![load(8, 0, 1, 8), exit()])]) {
        assert_eq!(with.call_with(0, &[4, 5, 6]).unwrap().value, 5);
    }
}

#[test]
fn what_a_program_must_not_do_ends_it() {
    for (instructions, wanted) in [
        (vec![store(8, 1, 8, 2), exit()], "main: it writes 8 bytes and finds no memory at 0x8"),
        (vec![set(1, -8), load(4, 0, 1, 0)], "it reads 4 bytes and finds no memory at 0x1fffffff8"),
        (vec![set(1, -8), atomic(8, 1, 1, 0, 2)], "it reads 8 bytes and finds"),
        (vec![set(1, -8), atomic(8, 0x110, 1, 0, 2)], "it writes 8 bytes and finds"),
        (vec![jump(-1)], "it has not ended after 10000 instructions"),
        (vec![set(0, 1)], "it runs past the end of its function"),
        (vec![jump(1), exit()], "it jumps out of its function"),
        (vec![jump(-2), exit()], "it jumps out of its function"),
        (
            [vec![jump(1)], wide(1, 5).to_vec(), vec![exit()]].concat(),
            "it comes to the second half",
        ),
        (vec![call(-1)], "its functions call each other deeper than 8"),
        (vec![helper(99), exit()], "it calls helper 99, which is not there here"),
        (vec![set(1, -8), helper(3), exit()], "it reads 8 bytes and finds"),
        (vec![instruction(0xe6, 0, 0, 0, 0)], "there is no instruction with the code 0xe6"),
        (vec![instruction(0x0d, 0, 0, 0, 0)], "indirect jumps are not run here"),
        (vec![instruction(0xb7, 11, 0, 0, 0)], "it names a register beyond r10"),
    ] {
        let said = fault(instructions);
        assert!(said.starts_with("main: ") && said.contains(wanted), "{said}");
    }
    // What is not reached does not matter.
    assert_eq!(run(vec![jump(1), helper(99), exit()]).instructions, 2);
}

#[test]
fn loops_that_know_how_to_end_do_so_after_half_of_the_time() {
    let main = vec![may_goto(2), compute(ADD, 0, 1), jump(-3), exit()];
    for mut machine in machines(&[("main", main)]) {
        machine.set_limit(300);
        let outcome = machine.call(0, [0; 5]).unwrap();
        assert_eq!(outcome, Outcome { value: 50, instructions: 152 });
        // The time of another call is its own.
        assert_eq!(machine.call(0, [0; 5]), Ok(outcome));
    }
}

#[test]
fn a_callback_has_the_time_of_what_has_called_it() {
    let main =
        [vec![set(1, 1000)], wide(2, FUNCTION | 1).to_vec(), vec![helper(2), exit()]].concat();
    for mut machine in machines(&[("main", main), ("each", vec![jump(-1)])]) {
        machine.set_limit(500);
        let fault = machine.call(0, [0; 5]).unwrap_err();
        assert_eq!(fault.to_string(), "each: it has not ended after 500 instructions");
        assert_eq!(machine.executed(), 501);
    }
}

#[test]
fn a_fault_in_a_callback_ends_all_that_has_called_it() {
    let main =
        [vec![set(1, 9)], wide(2, FUNCTION | 1).to_vec(), vec![helper(2), helper(1), exit()]]
            .concat();
    for mut machine in machines(&[("main", main), ("each", vec![store(8, 1, 8, 2), exit()])]) {
        let fault = machine.call(0, [0; 5]).unwrap_err();
        assert_eq!(fault.to_string(), "each: it writes 8 bytes and finds no memory at 0x8");
        assert!(machine.world.0.is_empty());
    }
}

#[test]
fn functions_that_call_back_for_ever_run_out_of_stacks() {
    let main = [vec![set(1, 1)], wide(2, FUNCTION).to_vec(), vec![helper(2), exit()]].concat();
    for mut machine in machines(&[("main", main)]) {
        let fault = machine.call(0, [0; 5]).unwrap_err();
        assert!(fault.to_string().contains("deeper than 8, or than there are stacks"), "{fault}");
    }
}

#[cfg(feature = "jit")]
#[test]
fn an_error_of_the_kernel_s_own_is_told_and_ends_the_call() {
    let panics = |machine: &mut Machine<Notes>| machine.call(0, [0; 5]).unwrap_err().to_string();
    let [_, mut compiled] = machines(&[("main", vec![set(2, 3), set(1, 1), helper(2), exit()])]);
    let said =
        "main: what it has called of the kernel has an error of its own, which is shown above";
    assert_eq!(panics(&mut compiled), said);
}
