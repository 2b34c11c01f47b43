// SPDX-License-Identifier: GPL-2.0-only

use super::fault::{Fault, Problem};
use super::interpreter;
use super::state::{ARGUMENTS, Arguments, DEEPEST, MOST_ARGUMENTS, Machine, World};
use crate::shared::STACK;

/// What a call of a program has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// What the function returns.
    pub value: u64,
    /// Instructions that were executed for it; a wide one counts once.
    pub instructions: u64,
}

impl<W: World> Machine<W> {
    /// Calls a function of the program with values in the first registers.
    ///
    /// # Errors
    /// The program does what it must not; nothing runs on this machine afterwards.
    pub fn call(&mut self, function: usize, arguments: Arguments) -> Result<Outcome, Fault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let is_outermost = self.calls_inside == 0;
        let shared = &mut self.shared;
        let (before, deepest) = (shared.executed, shared.deepest);
        if is_outermost {
            shared.end = before.saturating_add(self.limit);
            shared.long = before.saturating_add(self.limit / 2);
        }
        shared.deepest = shared.frame.saturating_add(DEEPEST * STACK).min(self.stacks);
        self.calls_inside += 1;
        let value = self.run(function, arguments);
        self.calls_inside -= 1;
        self.shared.deepest = deepest;
        if is_outermost {
            self.settle();
        }
        match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(Outcome { value, instructions: self.shared.executed - before }),
        }
    }

    /// Puts in order what a call leaves behind.
    fn settle(&mut self) {
        let held = self.resilient.last().copied().unwrap_or(self.lock);
        if held != 0 {
            self.fail(Problem::Misuse(format!("it ends and holds the lock at {held:#x}")));
        }
        self.heap.settle();
    }

    /// Calls a function as the kernel calls what is in a table: the first register has the address of all arguments.
    ///
    /// # Errors
    /// The program does what it must not; nothing runs on this machine afterwards.
    ///
    /// # Panics
    /// There are more than 16 arguments.
    pub fn call_with(&mut self, function: usize, arguments: &[u64]) -> Result<Outcome, Fault> {
        assert!(arguments.len() <= MOST_ARGUMENTS, "no member of a table has as many arguments");
        let address = self.arguments + ARGUMENTS * self.calls_inside as u64;
        for (place, value) in (address..).step_by(8).zip(arguments) {
            self.window.put(place, *value);
        }
        self.call(function, [address, 0, 0, 0, 0])
    }

    #[cfg(feature = "jit")]
    fn run(&mut self, function: usize, arguments: Arguments) -> u64 {
        match &self.compiled {
            Some(compiled) => self.enter(compiled.entry(function), arguments),
            None => interpreter::run(self, function, arguments),
        }
    }

    #[cfg(not(feature = "jit"))]
    fn run(&mut self, function: usize, arguments: Arguments) -> u64 {
        interpreter::run(self, function, arguments)
    }
}
