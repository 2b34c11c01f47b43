// SPDX-License-Identifier: GPL-2.0-only

use std::io;
use std::sync::Arc;

use super::fault::{Fault, Problem};
use crate::memory::{Heap, Window};
use crate::program::{KernelCall, Program};

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
}

/// How deep functions may call each other, as the kernel allows it (include/linux/bpf_verifier.h, `MAX_CALL_FRAMES`).
pub const DEEPEST: usize = 8;

/// Bytes of the stack of a function (include/linux/filter.h, `MAX_BPF_STACK`).
pub const STACK: u64 = 512;

/// Calls inside each other that have a stack: what the kernel calls may call programs again.
pub const STACKS: usize = 128;

/// Registers that a call may be given something in.
pub const MOST_ARGUMENTS: usize = 16;

/// A program with its memory, and the world around it.
pub struct Machine<W> {
    pub window: Window,
    pub heap: Heap,
    pub world: W,
    pub(super) program: Arc<Program>,
    pub(super) calls: Vec<Option<KernelFunction<W>>>,
    /// Instructions that a call of a program may take.
    pub(super) limit: u64,
    /// Instructions that were executed since the machine began.
    pub(super) executed: u64,
    /// The instruction at which the current call has to end.
    pub(super) end: u64,
    pub(super) fault: Option<Fault>,
    /// The addresses of the stacks, and of room for arguments.
    pub(super) stacks: u64,
    pub(super) arguments: u64,
    /// How many functions are on the stack.
    pub(super) depth: usize,
}

/// Instructions that a call may take if nothing else is said. No call of a scheduler in use takes a hundredth of it.
pub const LIMIT: u64 = 100_000_000;

impl<W: World> Machine<W> {
    /// Puts a program into memory.
    ///
    /// # Errors
    /// The system has no memory for it.
    pub fn new(program: Arc<Program>, world: W) -> io::Result<Self> {
        let mut window = Window::reserve()?;
        let mut heap = Heap::beyond(program.end);
        window.grow(program.end)?;
        for part in &program.parts {
            window.cover(part.address, part.bytes.len() as u64)?;
            window.write(part.address, &part.bytes).map_err(io::Error::other)?;
        }
        let stacks = heap.allocate(&mut window, STACK * STACKS as u64)?;
        let arguments = heap.allocate(&mut window, (8 * MOST_ARGUMENTS * STACKS) as u64)?;
        let calls = program.calls.iter().map(|call| match call {
            KernelCall::Helper(number) => W::helper(*number),
            KernelCall::Function(name) => W::function(name),
        });
        let calls = calls.collect();
        Ok(Self {
            window,
            heap,
            world,
            program,
            calls,
            limit: LIMIT,
            executed: 0,
            end: 0,
            fault: None,
            stacks,
            arguments,
            depth: 0,
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
        self.executed
    }

    /// Ends all that runs, because a function of the kernel was used as it must not be.
    pub fn fail(&mut self, problem: impl Into<Problem>) {
        if self.fault.is_none() {
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

    /// Requires that the current call may go on.
    pub(super) fn require_time(&self) -> Result<(), Problem> {
        if self.executed > self.end { Err(Problem::Endless(self.limit)) } else { Ok(()) }
    }

    /// Whether the current call has taken half of what it may: loops that know how to end do so then.
    pub(super) fn is_long(&self) -> bool {
        self.executed > self.end.saturating_sub(self.limit / 2)
    }

    pub(super) fn call_kernel(
        &mut self,
        call: usize,
        arguments: Arguments,
    ) -> Result<u64, Problem> {
        let Some(function) = self.calls[call] else {
            return Err(Problem::NoSuchCall(self.program.calls[call].to_string()));
        };
        Ok(function(self, arguments))
    }
}
