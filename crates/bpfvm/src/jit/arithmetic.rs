// SPDX-License-Identifier: GPL-2.0-only

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{FuncRef, Function, InstBuilder, Type, Value};

use super::function::Translator;
use crate::decoded::{Comparison, Condition, Operation, Plain, Width};
use crate::memory::ARENA;

impl<D: FnMut(usize, &mut Function) -> FuncRef> Translator<'_, D> {
    pub fn plain(&mut self, plain: Plain) {
        match plain {
            Plain::Compute { operation, width, destination, operand } => {
                let left = self.get(destination);
                let right = self.operand(operand);
                let value = self.compute(operation, width, left, right);
                self.set(destination, value);
            }
            Plain::Load { destination, base, offset, bytes, is_signed } => {
                let value = self.load(base, offset, bytes, is_signed);
                self.set(destination, value);
            }
            Plain::Store { base, offset, bytes, value } => {
                let value = self.operand(value);
                self.store(base, offset, bytes, value);
            }
            Plain::Change { change, base, offset, bytes, register, is_fetched } => {
                self.change(change, (base, offset, bytes), register, is_fetched);
            }
            Plain::CastAddress { destination, source, .. } => {
                let address = self.get(source);
                let place = self.builder.ins().band_imm_s(address, i64::from(u32::MAX));
                let inside = self.builder.ins().bor_imm_s(place, ARENA.cast_signed());
                let zero = self.constant(0);
                let value = self.builder.ins().select(place, inside, zero);
                self.set(destination, value);
            }
        }
    }

    fn compute(&mut self, operation: Operation, width: Width, left: Value, right: Value) -> Value {
        match width {
            Width::Bits64 => self.compute_in(I64, operation, left, right),
            Width::Bits32 => {
                let left = self.builder.ins().ireduce(I32, left);
                let right = self.builder.ins().ireduce(I32, right);
                let value = self.compute_in(I32, operation, left, right);
                self.builder.ins().uextend(I64, value)
            }
        }
    }

    fn compute_in(&mut self, of: Type, operation: Operation, left: Value, right: Value) -> Value {
        let ins = self.builder.ins();
        match operation {
            Operation::Add => ins.iadd(left, right),
            Operation::Subtract => ins.isub(left, right),
            Operation::Multiply => ins.imul(left, right),
            Operation::Divide | Operation::Remainder => self.divide(of, operation, left, right),
            Operation::DivideSigned | Operation::RemainderSigned => {
                self.divide_signed(of, operation, left, right)
            }
            Operation::Or => ins.bor(left, right),
            Operation::And => ins.band(left, right),
            Operation::Xor => ins.bxor(left, right),
            // Only the lowest bits of the second operand count here too.
            Operation::ShiftLeft => ins.ishl(left, right),
            Operation::ShiftRight => ins.ushr(left, right),
            Operation::ShiftRightSigned => ins.sshr(left, right),
            Operation::Negate => ins.ineg(left),
            Operation::Move => right,
            Operation::Extend(bits) => {
                let part = ins.ireduce(integer(bits), right);
                self.builder.ins().sextend(of, part)
            }
            Operation::Swap(bits) if integer(bits) == of => ins.bswap(right),
            Operation::Swap(bits) => {
                let part = ins.ireduce(integer(bits), right);
                let part = self.builder.ins().bswap(part);
                self.builder.ins().uextend(of, part)
            }
            Operation::Keep(bits) if integer(bits) == of => right,
            Operation::Keep(bits) => {
                let part = ins.ireduce(integer(bits), right);
                self.builder.ins().uextend(of, part)
            }
        }
    }

    /// Division by 0 gives 0, its rest what was divided.
    fn divide(&mut self, of: Type, operation: Operation, left: Value, right: Value) -> Value {
        let [zero, one] = [0, 1].map(|value| self.builder.ins().iconst(of, value));
        let divisor = self.builder.ins().select(right, right, one);
        match operation {
            Operation::Divide => {
                let value = self.builder.ins().udiv(left, divisor);
                self.builder.ins().select(right, value, zero)
            }
            _ => {
                let value = self.builder.ins().urem(left, divisor);
                self.builder.ins().select(right, value, left)
            }
        }
    }

    /// As `divide`; the smallest number divided by -1 is itself.
    fn divide_signed(
        &mut self,
        of: Type,
        operation: Operation,
        left: Value,
        right: Value,
    ) -> Value {
        let [zero, one] = [0, 1].map(|value| self.builder.ins().iconst(of, value));
        let is_minus = self.builder.ins().icmp_imm_s(IntCC::Equal, right, -1);
        let divisor = self.builder.ins().select(right, right, one);
        let divisor = self.builder.ins().select(is_minus, one, divisor);
        match operation {
            Operation::DivideSigned => {
                let value = self.builder.ins().sdiv(left, divisor);
                let negative = self.builder.ins().ineg(left);
                let value = self.builder.ins().select(is_minus, negative, value);
                self.builder.ins().select(right, value, zero)
            }
            _ => {
                let value = self.builder.ins().srem(left, divisor);
                self.builder.ins().select(right, value, left)
            }
        }
    }

    /// Whether a condition holds, as a number that is 0 if not.
    pub fn holds(&mut self, condition: Condition) -> Value {
        let Condition { comparison, width, left, right } = condition;
        let (mut left, mut right) = (self.get(left), self.operand(right));
        if width == Width::Bits32 {
            left = self.builder.ins().ireduce(I32, left);
            right = self.builder.ins().ireduce(I32, right);
        }
        let order = match comparison {
            Comparison::AnyBit => return self.builder.ins().band(left, right),
            Comparison::Equal => IntCC::Equal,
            Comparison::NotEqual => IntCC::NotEqual,
            Comparison::Above => IntCC::UnsignedGreaterThan,
            Comparison::AboveOrEqual => IntCC::UnsignedGreaterThanOrEqual,
            Comparison::Below => IntCC::UnsignedLessThan,
            Comparison::BelowOrEqual => IntCC::UnsignedLessThanOrEqual,
            Comparison::Greater => IntCC::SignedGreaterThan,
            Comparison::GreaterOrEqual => IntCC::SignedGreaterThanOrEqual,
            Comparison::Less => IntCC::SignedLessThan,
            Comparison::LessOrEqual => IntCC::SignedLessThanOrEqual,
        };
        self.builder.ins().icmp(order, left, right)
    }
}

/// The type of a number of 8, 16, 32 or 64 bits.
pub fn integer(bits: u8) -> Type {
    match bits {
        8 => I8,
        16 => I16,
        32 => I32,
        _ => I64,
    }
}
