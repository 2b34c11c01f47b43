// SPDX-License-Identifier: GPL-2.0-only
//! What compiled instructions have to do with the host that they run on: its threads, and its faults.

mod assembly;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;

use assembly::*;
use bpfvm::jit::Compiled;
use bpfvm::machine::{KernelFunction, Machine, World};
use bpfvm::memory::HEAP;

struct Wild;

impl World for Wild {
    fn helper(number: u32) -> Option<KernelFunction<Self>> {
        // What the host does wrong is not the program's.
        (number == 1).then_some(|_, [address, ..]| {
            let place = usize::try_from(address).unwrap() as *const u8;
            // SAFETY: none: only who wants to die calls it.
            unsafe { place.read_volatile() }.into()
        })
    }

    fn function(_: &str) -> Option<KernelFunction<Self>> {
        None
    }

    fn random(&mut self) -> u32 {
        0
    }
}

#[test]
fn one_program_runs_on_many_threads_and_faults_are_those_of_the_thread() {
    let steps = vec![load(8, 0, 1, 0), compute(ADD, 0, 1), exit()];
    let program = program(&[("main", steps)]);
    let compiled = Arc::new(Compiled::new(&program).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (program, compiled) = (&program, &compiled);
            scope.spawn(move || {
                for _ in 0..50 {
                    let mut machine = Machine::new(Arc::clone(program), Wild).unwrap();
                    machine.use_compiled(Arc::clone(compiled));
                    let place = machine.heap.allocate(&mut machine.window, 8).unwrap();
                    machine.write(place, &thread.to_le_bytes());
                    let end = machine.window.end();
                    let address = if thread % 2 == 0 { place } else { end + thread };
                    match machine.call(0, [address, 0, 0, 0, 0]) {
                        Ok(outcome) => assert_eq!((outcome.value, thread % 2), (thread + 1, 0)),
                        Err(fault) => {
                            let said = fault.to_string();
                            assert!(said.contains(&format!("{address:#x}")), "{said}");
                            assert_eq!(thread % 2, 1);
                        }
                    }
                }
            });
        }
    });
}

const DIES: &str = "RUNOFF_TEST_DIES";

#[test]
fn a_fault_of_the_host_outside_of_the_window_ends_the_process() {
    const NAME: &str = "a_fault_of_the_host_outside_of_the_window_ends_the_process";
    if std::env::var_os(DIES).is_some() {
        let program = program(&[("main", vec![helper(1), exit()])]);
        let mut machine = Machine::new(Arc::clone(&program), Wild).unwrap();
        machine.use_compiled(Arc::new(Compiled::new(&program).unwrap()));
        // The handler is there by now, and so is what was there before it.
        let alive = machine.call(0, [machine.window.base().addr().get() as u64 + HEAP, 0, 0, 0, 0]);
        println!("alive: {}", alive.is_ok());
        let _ = machine.call(0, [8, 0, 0, 0, 0]);
        unreachable!("nothing is at this address");
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(DIES, "1")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&child.stdout).contains("alive: true"), "{child:?}");
    assert_eq!(child.status.signal(), Some(11), "{child:?}");
}
