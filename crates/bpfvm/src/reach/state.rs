// SPDX-License-Identifier: GPL-2.0-only
//! What is known of the registers and the stack before an instruction.

use std::collections::BTreeMap;

use crate::instruction::{
    CALL, Class, FRAME, Instruction, MODE, MODE_PLAIN, MODE_SIGNED, OPERATION, REGISTERS, SOURCE,
};
use crate::semantics::{compute, immediate};

use super::memory::{Memory, Place};

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

    /// Runs an instruction that goes on to the next one.
    pub fn run(&mut self, instruction: Instruction, memory: &Memory) {
        match instruction.class() {
            Class::Arithmetic32 | Class::Arithmetic64 => self.compute(instruction),
            Class::LoadRegister => {
                let value = self.load(instruction, memory);
                self.set(instruction.destination, value);
            }
            Class::StoreImmediate => self.store(instruction, Value::Known(immediate(instruction))),
            Class::StoreRegister => {
                let is_plain = instruction.code & MODE == MODE_PLAIN;
                self.store(
                    instruction,
                    if is_plain { self.get(instruction.source) } else { Value::Unknown },
                );
                // Some atomic operations return what was there before, in one of two registers.
                if !is_plain {
                    self.set(instruction.source, Value::Unknown);
                    self.set(0, Value::Unknown);
                }
            }
            Class::Jump if instruction.code == CALL => {
                (0..=5).for_each(|register| self.set(register, Value::Unknown));
                // It may have been given the address of something on the stack.
                self.stack.clear();
            }
            Class::Load | Class::Jump | Class::Jump32 => {
                self.set(instruction.destination, Value::Unknown)
            }
        }
    }

    fn load(&self, instruction: Instruction, memory: &Memory) -> Value {
        let mode = instruction.code & MODE;
        if let Value::Address(place, at) = self.get(instruction.source)
            && matches!(mode, MODE_PLAIN | MODE_SIGNED)
        {
            let at = at.wrapping_add_signed(instruction.offset.into());
            let found = memory.read(place, at, instruction.width());
            let unused = 64 - 8 * u32::try_from(instruction.width()).expect("it is at most 8");
            let extended = |value: u64| match mode {
                MODE_SIGNED => ((value << unused).cast_signed() >> unused).cast_unsigned(),
                _ => value,
            };
            return found.map_or(Value::Unknown, |value| Value::Known(extended(value)));
        }
        let is_whole = mode == MODE_PLAIN && instruction.width() == 8;
        let is_stack = usize::from(instruction.source) == FRAME;
        let found = (is_whole && is_stack).then(|| self.stack.get(&instruction.offset).copied());
        found.flatten().unwrap_or(Value::Unknown)
    }

    fn compute(&mut self, instruction: Instruction) {
        let operand = match instruction.code & SOURCE {
            0 => Value::Known(immediate(instruction)),
            _ => self.get(instruction.source),
        };
        let is_whole = instruction.class() == Class::Arithmetic64;
        let is_sum = instruction.code & OPERATION == 0x00;
        let is_move = instruction.code & OPERATION == 0xb0 && instruction.offset == 0;
        let value = match (self.get(instruction.destination), operand) {
            (_, value @ (Value::NotZero | Value::Address(..))) if is_move && is_whole => value,
            (value @ Value::Address(..), Value::Known(by)) if is_sum && is_whole => value.moved(by),
            (_, Value::Known(operand)) if is_move => known(instruction, 0, operand),
            (Value::Known(destination), Value::Known(operand)) => {
                known(instruction, destination, operand)
            }
            _ => Value::Unknown,
        };
        self.set(instruction.destination, value);
    }

    fn store(&mut self, instruction: Instruction, value: Value) {
        if usize::from(instruction.destination) != FRAME {
            // It may be another name for the stack.
            self.stack.clear();
            return;
        }
        let (at, width) = (instruction.offset, instruction.width());
        self.stack.retain(|&other, _| (i32::from(other) - i32::from(at)).abs() >= 8);
        if width == 8 && value != Value::Unknown {
            self.stack.insert(at, value);
        }
    }
}

fn known(instruction: Instruction, destination: u64, operand: u64) -> Value {
    compute(instruction, destination, operand).map_or(Value::Unknown, Value::Known)
}
