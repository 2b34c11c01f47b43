// SPDX-License-Identifier: GPL-2.0-only

use super::fault::Fault;
use super::interpreter;
use super::state::{Arguments, MOST_ARGUMENTS, Machine, World};

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
        let before = self.executed;
        if self.depth == 0 {
            self.end = before.saturating_add(self.limit);
        }
        let value = interpreter::run(self, function, arguments, 1);
        match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(Outcome { value, instructions: self.executed - before }),
        }
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
        let address = self.arguments + (8 * MOST_ARGUMENTS * self.depth) as u64;
        let bytes: Vec<u8> = arguments.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.window.write(address, &bytes).expect("there is room for arguments");
        self.call(function, [address, 0, 0, 0, 0])
    }
}
