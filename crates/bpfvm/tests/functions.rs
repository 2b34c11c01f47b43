// SPDX-License-Identifier: GPL-2.0-only
//! Functions of the kernel as compiled programs use them (tests/objects/functions.bpf.c, values.bpf.c): what each program
//! returns here is what it returns on a real kernel (tests/lab/test_programs_agree.py).

mod assembly;

use std::path::PathBuf;
use std::sync::Arc;

use assembly::{NEWEST, machines_of};
use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::machine::{KernelFunction, Machine, World};
use bpfvm::memory::{ARENA, PAGE};
use bpfvm::program::{Program, link};
use bpfvm::{Object, functions, helpers};

/// Four CPUs, of which the first runs, or more.
#[derive(Default)]
struct Four {
    now: u64,
    more: u64,
}

impl World for Four {
    fn helper(number: u32) -> Option<KernelFunction<Self>> {
        helpers::find(number)
    }

    fn function(name: &str) -> Option<KernelFunction<Self>> {
        functions::find(name)
    }

    fn cpus(&self) -> u64 {
        4 + self.more
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn random(&mut self) -> u32 {
        self.now += 1;
        4
    }

    fn offset(&self, cpu: u64) -> u64 {
        cpu * 0x1000
    }
}

fn object(name: &str) -> Arc<Object> {
    let place = std::env::var_os("RUNOFF_TEST_OBJECTS").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../build/test-objects")),
        PathBuf::from,
    );
    let bytes = std::fs::read(place.join(format!("{name}.bpf.o"))).expect("make setup builds it");
    Arc::new(Object::parse(&bytes).unwrap())
}

/// What uses functions.
fn functions_program() -> Arc<Program> {
    Arc::new(link(&object("functions"), &NEWEST, &|_| None))
}

/// What does something with values of maps.
fn values_program() -> Arc<Program> {
    Arc::new(link(&object("values"), &NEWEST, &|_| None))
}

fn call(machine: &mut Machine<Four>, name: &str) -> u32 {
    let function = machine.program().find(name).unwrap();
    let value =
        machine.call(function, [0; 5]).unwrap_or_else(|fault| panic!("{name}: {fault}")).value;
    u32::try_from(value & u64::from(u32::MAX)).unwrap()
}

/// What Linux 7.3 returns.
const FUNCTIONS: [(&str, u32); 10] = [
    ("a_tree_has_an_order", 125_590),
    ("a_list_has_two_ends", 43_120),
    ("one_is_in_two_places", 770),
    ("cpus_are_in_sets", 84_991_251),
    ("cpus_have_their_turn", 322),
    ("numbers_are_looped_over", 255_372),
    ("a_text_is_made", 2_487_950_053),
    ("a_text_is_cut", 3_604_491),
    ("pages_come_and_go", 4353),
    ("functions_are_repeated", 7_426_096),
];

const VALUES: [(&str, u32); 8] = [
    ("pointers_are_exchanged", 272),
    ("an_update_ends_what_a_value_owns", 4160),
    ("an_array_ends_what_a_value_owned", 21),
    ("timers_are_started_and_stopped", 553_713_680),
    ("timers_end_later", 0),
    ("a_value_takes_its_list_along", 0),
    ("a_record_is_written", 25_166_720),
    ("elements_are_shown", 3074),
];

/// Calls all programs of an object; returns how much of what they have allocated is not given back.
#[track_caller]
fn check(machine: &mut Machine<Four>, values: &[(&str, u32)]) -> usize {
    let object = Arc::clone(&machine.program().object);
    let code = object.code.iter().find(|code| code.name == "syscall").unwrap();
    assert_eq!(code.functions.len(), values.len());
    for (name, expected) in values {
        assert_eq!(call(machine, name), *expected, "{name}");
    }
    machine.owned()
}

#[test]
fn programs_return_what_they_return_on_a_kernel() {
    for mut machine in machines_of(&functions_program(), Four::default) {
        assert_eq!(check(&mut machine, &FUNCTIONS), 0);
    }
    for mut machine in machines_of(&values_program(), Four::default) {
        // The set of CPUs that an update of an array leaves where it is.
        assert_eq!(check(&mut machine, &VALUES), 1);
    }
}

#[test]
fn older_kernels_end_what_a_value_of_an_array_owned() {
    let number = KERNELS.iter().position(|each| each.name == "6.18").unwrap();
    let older = Arc::new(link(&object("values"), &Kernel::read(number), &|_| None));
    for mut machine in machines_of(&older, Four::default) {
        assert_eq!(call(&mut machine, "an_array_ends_what_a_value_owned"), 5);
        assert_eq!(machine.owned(), 0);
    }
}

/// The number that a variable of the object has.
fn variable(machine: &Machine<Four>, name: &str) -> u32 {
    let program = machine.program();
    let found = program.object.data.iter().zip(&program.sections).find_map(|(data, section)| {
        let variable = data.variables.iter().find(|variable| *variable.name == *name)?;
        Some(section.address + variable.offset)
    });
    u32::from_le_bytes(machine.window.read(found.unwrap()).unwrap())
}

#[test]
fn timers_call_their_functions_when_they_end() {
    for mut machine in machines_of(&values_program(), Four::default) {
        assert_eq!(machine.first_timer(), None);
        assert!(machine.end_timer().is_none());
        machine.world.now = 500;
        assert_eq!(call(&mut machine, "timers_end_later"), 0);
        let first = machine.first_timer().unwrap();
        assert_eq!((first.at, first.cpu), (1_000_500, 0));
        assert_eq!(machine.end_timer().unwrap().unwrap().value, 0);
        // The key is 78, then the second one, 2.
        assert_eq!(variable(&machine, "shown"), 88);
        assert_eq!(machine.first_timer().unwrap().at, 2_000_500);
        machine.end_timer().unwrap().unwrap();
        assert_eq!(variable(&machine, "shown"), 100);
        assert_eq!(machine.first_timer(), None);
        // An update stops the timer of an array; it begins anew.
        assert_eq!(call(&mut machine, "timers_end_later"), (-16_i32).cast_unsigned());
        call(&mut machine, "an_array_ends_what_a_value_owned");
        assert_eq!(machine.first_timer().unwrap().at, 1_000_500);
        machine.end_timer().unwrap().unwrap();
        assert_eq!(machine.first_timer(), None);
    }
}

#[test]
fn records_are_read_in_their_order() {
    for mut machine in machines_of(&values_program(), Four::default) {
        let number = machine.program().maps.iter().position(|map| map.name == "records").unwrap();
        assert!(machine.take_records(number).is_empty());
        // Twelve bytes with their header, then four; the third is not there for anybody.
        assert_eq!(call(&mut machine, "a_record_is_written"), 24 << 20 | 56 << 4);
        let taken = machine.take_records(number);
        assert_eq!(taken.len(), 2);
        assert_eq!((taken[0].len(), taken[0][0]), (12, 1));
        assert_eq!(taken[1], [6, 0, 0, 0]);
        // Room that was read can be written again, and is counted on.
        assert_eq!(call(&mut machine, "a_record_is_written"), 24 << 20 | 112 << 4);
    }
}

#[test]
fn a_fault_is_told_with_the_line_of_the_source() {
    for mut machine in machines_of(&values_program(), Four::default) {
        let fire = machine.program().find("fire").unwrap();
        let fault = machine.call(fire, [0, 1 << 31, 0, 0, 0]).unwrap_err();
        let said = fault.to_string();
        assert!(said.contains("tests/objects/values.bpf.c:"), "{said}");
        assert!(said.contains("fire"), "{said}");
        assert!(said.contains("it reads 4 bytes and finds no memory at 0x80000000"), "{said}");
    }
}

#[test]
fn sets_have_as_many_cpus_as_the_machine() {
    let mut machine = Machine::new(functions_program(), Four { now: 0, more: 126 }).unwrap();
    let mut ask = |name: &str, arguments: &[u64]| {
        let mut five = [0; 5];
        five[..arguments.len()].copy_from_slice(arguments);
        functions::find(&format!("bpf_cpumask_{name}")).unwrap()(&mut machine, five)
    };
    let set = ask("create", &[]);
    for cpu in [129, 130, 1 << 31, u64::MAX] {
        ask("set_cpu", &[cpu, set]);
    }
    assert_eq!(["first", "weight", "first_zero"].map(|name| ask(name, &[set])), [129, 1, 0]);
    assert_eq!([ask("any_distribute", &[set]), ask("any_distribute", &[set])], [129, 129]);
    ask("setall", &[set]);
    assert_eq!(["full", "weight", "first_zero"].map(|name| ask(name, &[set])), [1, 130, 130]);
    assert_eq!([ask("any_distribute", &[set]), ask("any_distribute", &[set])], [0, 1]);
    ask("clear_cpu", &[64, set]);
    assert_eq!(["full", "weight", "first_zero"].map(|name| ask(name, &[set])), [0, 129, 64]);
    let other = ask("create", &[]);
    ask("set_cpu", &[64, other]);
    assert_eq!(ask("intersects", &[set, other]), 0);
    assert_eq!(ask("first_and", &[set, other]), 130);
    assert_eq!(ask("subset", &[other, set]), 0);
    ask("or", &[other, set, other]);
    assert_eq!([ask("full", &[other]), ask("subset", &[set, other])], [1, 1]);
    assert_eq!(ask("acquire", &[set]), set);
    ask("release", &[set]);
    assert_eq!(ask("test_cpu", &[1, set]), 1);
    ask("release", &[set]);
    ask("release", &[other]);
    assert_eq!(machine.owned(), 0);
    // It owns nothing any more.
    machine.heap.settle();
    functions::find("bpf_cpumask_release").unwrap()(&mut machine, [set, 0, 0, 0, 0]);
    let fault = machine.call(0, [0; 5]).unwrap_err();
    assert!(fault.to_string().contains("which it does not own"), "{fault}");
}

/// What a function of the kernel says when it is used as it must not be.
#[track_caller]
fn misuse(name: &str, arguments: [u64; 5]) -> String {
    let mut machine = Machine::new(functions_program(), Four::default()).unwrap();
    functions::find(name).unwrap()(&mut machine, arguments);
    machine.call(0, [0; 5]).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_told() {
    assert!(
        misuse("bpf_obj_new_impl", [1 << 40, 0, 0, 0, 0]).contains("no struct with the number")
    );
    assert!(misuse("bpf_obj_drop_impl", [64, 0, 0, 0, 0]).contains("does not own"));
    assert!(misuse("bpf_refcount_acquire_impl", [64, 0, 0, 0, 0]).contains("allocated nothing at"));
    assert!(misuse("bpf_list_push_back_impl", [8, 64, 0, 0, 0]).contains("allocated no node at"));
    assert!(misuse("bpf_rbtree_add_impl", [8, 64, 0, 0, 0]).contains("allocated no node at"));
    assert!(misuse("bpf_res_spin_unlock", [64, 0, 0, 0, 0]).contains("not held last"));
    assert!(misuse("bpf_cpumask_acquire", [64, 0, 0, 0, 0]).contains("no set of CPUs at"));
}

#[test]
fn what_is_printed_is_kept() {
    let mut machine = Machine::new(functions_program(), Four::default()).unwrap();
    let words = b"%d of %s\n\0name\0";
    let place = machine.heap.allocate(&mut machine.window, 64).unwrap();
    machine.write(place, words);
    let list = place + 32;
    machine.write(list, &[7_u64.to_le_bytes(), (place + 10).to_le_bytes()].concat());
    let helper = |number: u32| helpers::find::<Four>(number).unwrap();
    assert_eq!(helper(6)(&mut machine, [place, 10, 7, place + 10, 0]), 10);
    assert_eq!(helper(177)(&mut machine, [place, 10, list, 16, 0]), 10);
    let stream = functions::find("bpf_stream_vprintk_impl").unwrap();
    assert_eq!(stream(&mut machine, [1, place, list, 16, 0]), 0);
    assert_eq!(machine.printed.lines, ["7 of name"; 3]);
    for (list, bytes) in [(list, 8), (list, 12), (list, 104)] {
        let refused = helper(177)(&mut machine, [place, 10, list, bytes, 0]);
        assert_eq!(refused, (-22_i64).cast_unsigned());
    }
    for _ in 0..10_000 {
        helper(6)(&mut machine, [place + 10, 5, 0, 0, 0]);
    }
    assert_eq!((machine.printed.lines.len(), machine.printed.lost), (10_000, 3));
}

const DEADLOCK: u64 = (-35_i64).cast_unsigned();

#[test]
fn each_cpu_has_its_copy_and_numbers_are_drawn() {
    let mut machine = Machine::new(functions_program(), Four::default()).unwrap();
    let helper = |number: u32| helpers::find::<Four>(number).unwrap();
    let copies =
        [0, 3, 4, u64::MAX].map(|cpu| helper(153)(&mut machine, [0x20_0000, cpu, 0, 0, 0]));
    assert_eq!(copies, [0x20_0000, 0x20_3000, 0, 0]);
    assert_eq!(helper(154)(&mut machine, [0x20_0000, 0, 0, 0, 0]), 0x20_0000);
    // A variable that the kernel does not have.
    assert_eq!(helper(153)(&mut machine, [0; 5]), 0);
    assert_eq!((helper(7)(&mut machine, [0; 5]), machine.world.now), (4, 1));
}

#[test]
fn a_lock_that_is_held_says_so_and_must_be_given_back() {
    let mut machine = Machine::new(functions_program(), Four::default()).unwrap();
    let mut ask =
        |name: &str, lock: u64| functions::find(name).unwrap()(&mut machine, [lock, 0, 0, 0, 0]);
    assert_eq!(["bpf_res_spin_lock"; 2].map(|name| ask(name, 64)), [0, DEADLOCK]);
    assert_eq!([ask("bpf_res_spin_lock", 72), ask("bpf_res_spin_unlock", 72)], [0, 0]);
    let any = machine.program().find("a_list_has_two_ends").unwrap();
    let fault = machine.call(any, [0; 5]).unwrap_err().to_string();
    assert!(fault.contains("it ends and holds the lock at 0x40"), "{fault}");
}

#[test]
fn pages_of_the_arena_are_set_aside_once() {
    const BUSY: u64 = (-16_i64).cast_unsigned();
    const INVALID: u64 = (-22_i64).cast_unsigned();
    let mut machine = Machine::new(functions_program(), Four::default()).unwrap();
    let mut ask = |name: &str, address: u64, pages: u64| {
        let name = format!("bpf_arena_{name}_pages");
        functions::find(&name).unwrap()(&mut machine, [0, address, pages, 0, 0])
    };
    let page = |number: u64| ARENA + number * PAGE;
    // There are eight pages, of which the first has the address that is null.
    assert_eq!([ask("reserve", page(1), 2), ask("reserve", page(2), 1)], [0, BUSY]);
    assert_eq!([ask("reserve", page(0), 1), ask("reserve", page(7), 2)], [BUSY, INVALID]);
    assert_eq!([ask("reserve", page(1) + 8, 1), ask("alloc", page(1) + 8, 1)], [INVALID, 0]);
    assert_eq!(
        [ask("alloc", 0, 2), ask("alloc", 0, 4), ask("alloc", page(5), 1)],
        [page(3), 0, page(5)]
    );
    assert_eq!(ask("alloc", page(6), 0), 0);
    ask("free", page(3), 2);
    assert_eq!([ask("alloc", 0, 2), ask("alloc", 0, 3)], [page(3), 0]);
}

/// An address that a call has found can be used up to its end; then it is given to others.
#[test]
fn what_is_freed_is_given_back_when_the_call_has_ended() {
    let mut machine = Machine::new(functions_program(), Four::default()).unwrap();
    let mut ask = |name: &str, set: u64| {
        functions::find(&format!("bpf_cpumask_{name}")).unwrap()(&mut machine, [set, 0, 0, 0, 0])
    };
    let first = ask("create", 0);
    ask("release", first);
    let second = ask("create", 0);
    assert_ne!(first, second);
    machine.heap.settle();
    let third = functions::find("bpf_cpumask_create").unwrap()(&mut machine, [0; 5]);
    assert_eq!(third, first);
}
