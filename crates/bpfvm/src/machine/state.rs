// SPDX-License-Identifier: GPL-2.0-only

use std::io;
use std::sync::Arc;

use thiserror::Error;

use super::fault::{Fault, Problem};
#[cfg(feature = "jit")]
use crate::jit::Compiled;
use crate::kept::{Allocated, Arena, Members, Printed, Timers};
use crate::maps::{Kind, Map, MapError};
use crate::memory::{Heap, Window, length};
use crate::program::{KernelCall, Program};
use crate::shared::{STACK, Shared, stop};

/// The values of the registers r1 to r5.
pub type Arguments = [u64; 5];

/// What the kernel does when a program calls it. What goes wrong is told by [`Machine::fail`].
pub type KernelFunction<W> = fn(&mut Machine<W>, Arguments) -> u64;

/// What is around programs: the functions of the kernel, with the state that they need.
pub trait World: Sized {
    /// The helper with a number, if it is here.
    fn helper(number: u32) -> Option<KernelFunction<Self>>;

    /// The function with a name, if it is here.
    fn function(name: &str) -> Option<KernelFunction<Self>>;

    /// How many CPUs there are, and which one the program runs on.
    fn cpus(&self) -> u64 {
        1
    }

    fn cpu(&self) -> u64 {
        0
    }

    /// Nanoseconds since the machine began.
    fn now(&self) -> u64 {
        0
    }

    /// The next number that is drawn.
    fn random(&mut self) -> u32;

    /// How far the copy of a CPU is from the address of a variable of which each CPU has one.
    fn offset(&self, _cpu: u64) -> u64 {
        0
    }

    /// Ends a reference to something of the kernel that no program has allocated.
    fn release(machine: &mut Machine<Self>, address: u64) {
        machine.fail(Problem::Misuse(format!("it releases {address:#x}, which it does not own")));
    }
}

/// How deep functions may call each other, as the kernel allows it (include/linux/bpf_verifier.h, `MAX_CALL_FRAMES`).
pub const DEEPEST: u64 = 8;

/// Functions inside each other that have a stack: what the kernel calls may call programs again.
const STACKS: u64 = 128;

/// Arguments of a call, and the bytes that they take.
pub const MOST_ARGUMENTS: usize = 16;
pub const ARGUMENTS: u64 = 8 * MOST_ARGUMENTS as u64;

/// A program with its memory, and the world around it.
#[repr(C)]
pub struct Machine<W> {
    /// It is the first, so that compiled programs find it by the machine's address.
    pub(super) shared: Shared,
    pub window: Window,
    pub heap: Heap,
    pub world: W,
    pub(super) program: Arc<Program>,
    /// What runs instead of the program's steps, if it was compiled.
    #[cfg(feature = "jit")]
    pub(super) compiled: Option<Arc<Compiled>>,
    pub(super) calls: Vec<Option<KernelFunction<W>>>,
    pub(super) maps: Vec<Map>,
    /// The address of a lock that is held, or 0.
    pub(crate) lock: u64,
    /// The addresses of locks of the other kind that are held, the last at the end.
    pub(crate) resilient: Vec<u64>,
    pub(crate) allocated: Allocated,
    pub(crate) members: Members,
    pub(crate) timers: Timers,
    pub(crate) arena: Arena,
    pub printed: Printed,
    /// For each CPU, the one that was last drawn when loads were distributed.
    pub(crate) distributed: Vec<u64>,
    /// Instructions that a call of a program may take.
    pub(super) limit: u64,
    pub(super) fault: Option<Fault>,
    /// The end of all stacks, and the address of room for the arguments of a call for each of them.
    pub(super) stacks: u64,
    pub(super) arguments: u64,
    /// Calls from outside that have not returned.
    pub(super) calls_inside: usize,
}

/// Instructions that a call may take if nothing else is said. No call of a scheduler in use takes a hundredth of it.
pub const LIMIT: u64 = 100_000_000;

impl<W: World> Machine<W> {
    /// Puts a program into memory, with its maps.
    ///
    /// # Errors
    /// There is no memory for it, or a map cannot be as it is described.
    pub fn new(program: Arc<Program>, world: W) -> Result<Self, BeginError> {
        let mut window = Window::reserve()?;
        let mut heap = Heap::beyond(program.end);
        window.grow(program.end)?;
        for part in &program.parts {
            window.cover(part.address, part.bytes.len() as u64)?;
            window.write(part.address, &part.bytes).map_err(io::Error::other)?;
        }
        let maps = maps(&program, world.cpus(), (&mut heap, &mut window))?;
        let arenas = program.object.maps.iter().find(|map| map.kind.name() == Some("arena"));
        let arena = Arena::new(arenas.map_or(0, |map| map.entries), &window);
        let stacks = heap.allocate(&mut window, STACK * STACKS)?;
        let arguments = heap.allocate(&mut window, ARGUMENTS * STACKS)?;
        let calls = program.calls.iter().map(|call| match call {
            KernelCall::Helper(number) => W::helper(*number),
            KernelCall::Function(name) => W::function(name),
        });
        let shared = Shared {
            base: window.base().addr().get() as u64,
            executed: 0,
            end: 0,
            long: 0,
            frame: stacks,
            deepest: stacks,
            stop: stop::GOES_ON,
            site: 0,
            call: 0,
            call_kernel: 0,
            landing: 0,
            wanted: 0,
            is_write: false,
            instruction: 0,
        };
        Ok(Self {
            shared,
            window,
            heap,
            calls: calls.collect(),
            maps,
            lock: 0,
            resilient: Vec::new(),
            allocated: Allocated::default(),
            members: Members::default(),
            timers: Timers::default(),
            arena,
            printed: Printed::default(),
            distributed: vec![0; length(world.cpus())],
            program,
            #[cfg(feature = "jit")]
            compiled: None,
            world,
            limit: LIMIT,
            fault: None,
            stacks: stacks + STACK * STACKS,
            arguments,
            calls_inside: 0,
        })
    }

    /// Limits the instructions that a call may take.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Instructions that were executed since the machine began.
    pub fn executed(&self) -> u64 {
        self.shared.executed
    }

    /// Ends all that runs, because a function of the kernel was used as it must not be.
    pub fn fail(&mut self, problem: impl Into<Problem>) {
        if self.fault.is_none() {
            self.shared.stop = stop::FAILED;
            self.fault = Some(Fault { problem: problem.into(), site: None });
        }
    }

    /// Reads a number of eight bytes for a function of the kernel, as [`Self::fail`] says if there is none.
    pub fn read(&mut self, address: u64) -> u64 {
        match self.window.read(address) {
            Ok(bytes) => u64::from_le_bytes(bytes),
            Err(not_there) => {
                self.fail(not_there);
                0
            }
        }
    }

    /// Writes bytes for a function of the kernel, as [`Self::fail`] says if they have no place.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        if let Err(not_there) = self.window.write(address, bytes) {
            self.fail(not_there);
        }
    }

    /// Ends all that runs, because of a step; a fault that was there before belongs to another.
    pub(super) fn fail_at(&mut self, problem: Problem, function: usize, step: usize) {
        if self.fault.is_none() {
            let site = Some(self.program.site(function, step));
            self.shared.stop = stop::FAILED;
            self.fault = Some(Fault { problem, site });
        }
    }

    /// Calls what the kernel has under a number, from a step of a function. It returns 0 if there is a fault.
    pub(super) fn call_kernel(
        &mut self,
        call: usize,
        arguments: Arguments,
        (function, step): (usize, usize),
    ) -> u64 {
        let Some(called) = self.calls[call] else {
            let name = self.program.calls[call].to_string();
            self.fail_at(Problem::NoSuchCall(name), function, step);
            return 0;
        };
        let value = called(self, arguments);
        // What the kernel's function did not like is the caller's.
        if let Some(fault) = &mut self.fault {
            fault.site.get_or_insert_with(|| self.program.site(function, step));
            return 0;
        }
        value
    }
}

/// Why a machine cannot begin.
#[derive(Debug, Error)]
pub enum BeginError {
    #[error("there is no memory for the program: {0}")]
    Memory(#[from] io::Error),
    #[error("the map {name} cannot be made: {why}")]
    Map { name: String, why: MapError },
}

fn maps(
    program: &Program,
    cpus: u64,
    (heap, window): (&mut Heap, &mut Window),
) -> Result<Vec<Map>, BeginError> {
    let object = &program.object;
    let address = |name: &String| {
        let place = program.maps.iter().find(|place| place.name == *name);
        place.map_or(0, |place| place.address)
    };
    let maps = object.maps.iter().map(|described| {
        let made = Map::new(described, &object.btf, cpus, (heap, window));
        let mut made = made.map_err(|why| BeginError::Map { name: described.name.clone(), why })?;
        if let Kind::Maps(inside) = &mut made.kind {
            *inside = described.first.iter().map(address).collect();
        }
        Ok(made)
    });
    maps.collect()
}
