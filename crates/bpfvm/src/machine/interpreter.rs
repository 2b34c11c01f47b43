// SPDX-License-Identifier: GPL-2.0-only
//! Runs programs step by step. It does nothing to be fast: what a compiler makes must come to the same.

use std::sync::Arc;

use super::fault::Problem;
use super::state::{Arguments, Machine, World};
use crate::decoded::{Change, Condition, Operand, Plain};
use crate::instruction::{FRAME, REGISTERS};
use crate::memory::{ARENA, NotThere};
use crate::program::Step;
use crate::semantics::{change, compute, extend, holds};
use crate::shared::STACK;

/// Runs a function. What it returns means nothing if there is a fault.
pub fn run<W: World>(machine: &mut Machine<W>, function: usize, arguments: Arguments) -> u64 {
    let frame = machine.shared.frame;
    if frame + STACK > machine.shared.deepest {
        machine.fail_at(Problem::TooDeep, function, 0);
        return 0;
    }
    machine.shared.frame = frame + STACK;
    let mut running = Running { registers: [0; REGISTERS], function, at: 0 };
    running.registers[1..=arguments.len()].copy_from_slice(&arguments);
    running.registers[FRAME] = machine.shared.frame;
    let value = running.run(machine);
    machine.shared.frame = frame;
    value
}

/// A function that runs.
struct Running {
    registers: [u64; REGISTERS],
    function: usize,
    at: usize,
}

/// Where a step leads.
enum Next {
    Step(usize),
    Exit,
}

impl Running {
    fn run<W: World>(&mut self, machine: &mut Machine<W>) -> u64 {
        let program = Arc::clone(&machine.program);
        let steps = &program.functions[self.function].steps;
        loop {
            let next = match steps.get(self.at) {
                Some(&step) => {
                    machine.shared.executed += 1;
                    self.step(machine, step)
                }
                None => Err(Problem::PastEnd),
            };
            match next {
                Ok(Next::Step(to)) if machine.fault.is_none() => self.at = to,
                Ok(_) => return self.registers[0],
                Err(problem) => {
                    machine.fail_at(problem, self.function, self.at);
                    return 0;
                }
            }
        }
    }

    fn step<W: World>(&mut self, machine: &mut Machine<W>, step: Step) -> Result<Next, Problem> {
        let next = Next::Step(self.at + 1);
        match step {
            Step::Plain(plain) => self.plain(machine, plain)?,
            Step::Set { destination, value } => {
                self.set(destination, value);
                return Ok(Next::Step(self.at + 2));
            }
            Step::Jump { to } => return self.jump(machine, to),
            Step::JumpIf { condition, to } if self.holds(condition) => {
                return self.jump(machine, to);
            }
            Step::JumpIf { .. } => {}
            Step::JumpIfLong { to } if machine.shared.executed > machine.shared.long => {
                return self.jump(machine, to);
            }
            Step::JumpIfLong { .. } => {}
            Step::Call(function) => {
                let value = run(machine, function, self.arguments());
                self.returned(value);
            }
            Step::CallKernel(call) => {
                let value = machine.call_kernel(call, self.arguments(), (self.function, self.at));
                self.returned(value);
            }
            Step::Exit => return Ok(Next::Exit),
            Step::Never(reason) => {
                return Err(Problem::Never(machine.program.reasons[reason].clone()));
            }
        }
        Ok(next)
    }

    fn get(&self, register: u8) -> u64 {
        self.registers[usize::from(register)]
    }

    fn set(&mut self, register: u8, value: u64) {
        self.registers[usize::from(register)] = value;
    }

    fn operand(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Register(register) => self.get(register),
            Operand::Immediate(value) => value,
        }
    }

    fn arguments(&self) -> Arguments {
        [1, 2, 3, 4, 5].map(|register| self.get(register))
    }

    /// After a call nothing is in the registers of its arguments.
    fn returned(&mut self, value: u64) {
        (1..=5).for_each(|register| self.set(register, 0));
        self.set(0, value);
    }

    fn holds(&self, condition: Condition) -> bool {
        let Condition { comparison, width, left, right } = condition;
        holds(comparison, width, self.get(left), self.operand(right))
    }

    /// Only what goes back can go on for ever.
    fn jump<W: World>(&self, machine: &Machine<W>, to: usize) -> Result<Next, Problem> {
        if to <= self.at && machine.shared.executed > machine.shared.end {
            return Err(Problem::Endless(machine.limit));
        }
        Ok(Next::Step(to))
    }

    fn plain<W: World>(&mut self, machine: &mut Machine<W>, plain: Plain) -> Result<(), NotThere> {
        match plain {
            Plain::Compute { operation, width, destination, operand } => {
                let operand = self.operand(operand);
                self.set(destination, compute(operation, width, self.get(destination), operand));
            }
            Plain::Load { destination, base, offset, bytes, is_signed } => {
                let value = load(machine, self.address(base, offset), bytes)?;
                self.set(destination, if is_signed { extend(value, bytes) } else { value });
            }
            Plain::Store { base, offset, bytes, value } => {
                store(machine, self.address(base, offset), bytes, self.operand(value))?;
            }
            Plain::Change { change, base, offset, bytes, register, is_fetched } => {
                let address = self.address(base, offset);
                let before = self.change(machine, (change, address, bytes), register)?;
                let to = if change == Change::CompareExchange { 0 } else { register };
                if is_fetched {
                    self.set(to, before);
                }
            }
            Plain::CastAddress { destination, source, .. } => {
                self.set(destination, in_arena(self.get(source)));
            }
        }
        Ok(())
    }

    fn address(&self, base: u8, offset: i16) -> u64 {
        self.get(base).wrapping_add_signed(offset.into())
    }

    /// Changes a number in memory and returns what it was.
    fn change<W: World>(
        &self,
        machine: &mut Machine<W>,
        (kind, address, bytes): (Change, u64, u8),
        register: u8,
    ) -> Result<u64, NotThere> {
        let before = match kind {
            // What was there does not count, and a store alone is told as a store.
            Change::StoreRelease => 0,
            _ => load(machine, address, bytes)?,
        };
        let kept = u64::MAX >> (64 - 8 * u32::from(bytes));
        let [value, r0] = [register, 0].map(|register| self.get(register) & kept);
        if kind != Change::LoadAcquire {
            store(machine, address, bytes, change(kind, before, value, r0))?;
        }
        Ok(before)
    }
}

/// An address in the arena from its lowest 32 bits; the one that is null stays so.
fn in_arena(address: u64) -> u64 {
    match address & u64::from(u32::MAX) {
        0 => 0,
        place => ARENA | place,
    }
}

fn load<W>(machine: &Machine<W>, address: u64, bytes: u8) -> Result<u64, NotThere> {
    let mut read = [0; 8];
    machine.window.read_into(address, &mut read[..bytes.into()])?;
    Ok(u64::from_le_bytes(read))
}

fn store<W>(machine: &mut Machine<W>, address: u64, bytes: u8, value: u64) -> Result<(), NotThere> {
    machine.window.write(address, &value.to_le_bytes()[..bytes.into()])
}
