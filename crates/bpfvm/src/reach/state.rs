// SPDX-License-Identifier: GPL-2.0-only
//! What is known of the registers and the stack before an instruction.

use std::collections::BTreeMap;

use super::memory::{Memory, Place};
use crate::decoded::{Change, Operand, Operation, Plain, Width};
use crate::instruction::{FRAME, REGISTERS};
use crate::semantics::{compute, extend};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    Known(u64),
    /// The address of something that stays what it is, and bytes from its beginning.
    Address(Place, u64),
    NotZero,
    Unknown,
}

impl Value {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (one, two) if one == two => one,
            (Self::Unknown, _) | (_, Self::Unknown) | (Self::Known(0), _) | (_, Self::Known(0)) => {
                Self::Unknown
            }
            _ => Self::NotZero,
        }
    }

    /// Another address in the same thing.
    fn moved(self, by: u64) -> Self {
        match self {
            Self::Address(place, at) => Self::Address(place, at.wrapping_add(by)),
            _ => Self::Unknown,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    registers: [Value; REGISTERS],
    /// Whole numbers of eight bytes, by their place; others are unknown.
    stack: BTreeMap<i16, Value>,
}

impl State {
    pub fn at_entry() -> Self {
        Self { registers: [Value::Unknown; REGISTERS], stack: BTreeMap::new() }
    }

    pub fn get(&self, register: u8) -> Value {
        self.registers.get(usize::from(register)).copied().unwrap_or(Value::Unknown)
    }

    pub fn set(&mut self, register: u8, value: Value) {
        if let Some(known) = self.registers.get_mut(usize::from(register)) {
            *known = value;
        }
    }

    /// What holds on both ways to an instruction; None if that is no more than what held before.
    pub fn join(&self, other: &Self) -> Option<Self> {
        let mut joined = self.clone();
        joined
            .registers
            .iter_mut()
            .zip(other.registers)
            .for_each(|(one, two)| *one = one.join(two));
        joined.stack = self
            .stack
            .iter()
            .filter_map(|(&at, &one)| Some((at, one.join(*other.stack.get(&at)?))))
            .filter(|(_, value)| *value != Value::Unknown)
            .collect();
        (joined != *self).then_some(joined)
    }

    /// Runs an instruction.
    pub fn run(&mut self, plain: Plain, memory: &Memory) {
        match plain {
            Plain::Compute { operation, width, destination, operand } => {
                let operand = self.operand(operand);
                let value = combine(operation, width, self.get(destination), operand);
                self.set(destination, value);
            }
            Plain::Load { destination, base, offset, bytes, is_signed } => {
                let value = match self.get(base) {
                    Value::Address(place, at) => {
                        let at = at.wrapping_add_signed(offset.into());
                        let found = memory.read(place, at, bytes.into());
                        let extended =
                            found.map(|value| if is_signed { extend(value, bytes) } else { value });
                        extended.map_or(Value::Unknown, Value::Known)
                    }
                    _ if bytes == 8 && usize::from(base) == FRAME => {
                        self.stack.get(&offset).copied().unwrap_or(Value::Unknown)
                    }
                    _ => Value::Unknown,
                };
                self.set(destination, value);
            }
            Plain::Store { base, offset, bytes, value } => {
                self.store(base, offset, bytes, self.operand(value));
            }
            Plain::Change { base, offset, bytes, .. } => {
                self.store(base, offset, bytes, Value::Unknown);
                self.forget(plain);
            }
            Plain::CastAddress { .. } => self.forget(plain),
        }
    }

    /// Calls a function.
    pub fn call(&mut self) {
        (0..=5).for_each(|register| self.set(register, Value::Unknown));
        // It may have been given the address of something on the stack.
        self.stack.clear();
    }

    /// Makes the register unknown that an instruction writes.
    pub fn forget(&mut self, plain: Plain) {
        match plain {
            Plain::Compute { destination, .. }
            | Plain::Load { destination, .. }
            | Plain::CastAddress { destination, .. } => self.set(destination, Value::Unknown),
            Plain::Change { change: Change::CompareExchange, .. } => self.set(0, Value::Unknown),
            Plain::Change { register, is_fetched: true, .. } => {
                self.set(register, Value::Unknown);
            }
            Plain::Store { .. } | Plain::Change { .. } => {}
        }
    }

    fn operand(&self, operand: Operand) -> Value {
        match operand {
            Operand::Register(register) => self.get(register),
            Operand::Immediate(value) => Value::Known(value),
        }
    }

    fn store(&mut self, base: u8, at: i16, bytes: u8, value: Value) {
        if usize::from(base) != FRAME {
            // It may be another name for the stack.
            self.stack.clear();
            return;
        }
        self.stack.retain(|&other, _| (i32::from(other) - i32::from(at)).abs() >= 8);
        if bytes == 8 && value != Value::Unknown {
            self.stack.insert(at, value);
        }
    }
}

fn combine(operation: Operation, width: Width, destination: Value, operand: Value) -> Value {
    match (operation, width, destination, operand) {
        (Operation::Move, Width::Bits64, _, value) => value,
        (Operation::Add, Width::Bits64, value @ Value::Address(..), Value::Known(by)) => {
            value.moved(by)
        }
        (_, _, Value::Known(destination), Value::Known(operand)) => {
            Value::Known(compute(operation, width, destination, operand))
        }
        // What was there before does not count.
        (Operation::Move | Operation::Extend(_), _, _, Value::Known(operand)) => {
            Value::Known(compute(operation, width, 0, operand))
        }
        _ => Value::Unknown,
    }
}
