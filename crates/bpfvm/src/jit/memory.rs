// SPDX-License-Identifier: GPL-2.0-only
//! Loads and stores. Addresses are cut to the window, so that nothing else can be reached; where no memory is, the host
//! faults, and the handler in `entry` ends the call.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{FuncRef, Function, InstBuilder, MemFlagsData, Value};

use super::arithmetic::integer;
use super::function::Translator;
use crate::decoded::Change;
use crate::instruction::FRAME;
use crate::memory::MASK;

impl<D: FnMut(usize, &mut Function) -> FuncRef> Translator<'_, D> {
    /// The host's address of what a register points to.
    fn address(&mut self, base: u8, offset: i16) -> Value {
        if self.keeps_frame && usize::from(base) == FRAME {
            // The stack is so far from both ends of the window that no offset leaves it.
            return self.builder.ins().iadd_imm_s(self.stack, i64::from(offset));
        }
        let address = self.get(base);
        let address = self.builder.ins().iadd_imm_s(address, i64::from(offset));
        let place = self.builder.ins().band_imm_s(address, MASK.cast_signed());
        self.builder.ins().iadd(self.base, place)
    }

    pub fn load(&mut self, base: u8, offset: i16, bytes: u8, is_signed: bool) -> Value {
        let from = self.address(base, offset);
        let value = self.load_at(from, bytes);
        if !is_signed {
            return value;
        }
        let part = self.builder.ins().ireduce(integer(8 * bytes), value);
        self.builder.ins().sextend(I64, part)
    }

    /// Loads a number where the step says it, never together with one that uses it: a fault is the load's.
    fn load_at(&mut self, from: Value, bytes: u8) -> Value {
        let value = self.builder.ins().atomic_load(integer(8 * bytes), MemFlagsData::new(), from);
        if bytes == 8 { value } else { self.builder.ins().uextend(I64, value) }
    }

    pub fn store(&mut self, base: u8, offset: i16, bytes: u8, value: Value) {
        let to = self.address(base, offset);
        self.store_at(to, bytes, value);
    }

    fn store_at(&mut self, to: Value, bytes: u8, value: Value) {
        let value = self.part(bytes, value);
        self.builder.ins().store(MemFlagsData::new(), value, to, 0);
    }

    fn part(&mut self, bytes: u8, value: Value) -> Value {
        if bytes == 8 { value } else { self.builder.ins().ireduce(integer(8 * bytes), value) }
    }

    /// Changes a number in memory. Nothing else runs meanwhile.
    pub fn change(
        &mut self,
        change: Change,
        (base, offset, bytes): (u8, i16, u8),
        register: u8,
        is_fetched: bool,
    ) {
        let at = self.address(base, offset);
        let value = self.get(register);
        if change == Change::StoreRelease {
            return self.store_at(at, bytes, value);
        }
        let before = self.load_at(at, bytes);
        let ins = self.builder.ins();
        let after = match change {
            Change::Add => Some(ins.iadd(before, value)),
            Change::Or => Some(ins.bor(before, value)),
            Change::And => Some(ins.band(before, value)),
            Change::Xor => Some(ins.bxor(before, value)),
            Change::Exchange => Some(value),
            Change::CompareExchange => Some(self.exchanged(before, value, bytes)),
            Change::LoadAcquire | Change::StoreRelease => None,
        };
        if let Some(after) = after {
            self.store_at(at, bytes, after);
        }
        if is_fetched {
            self.set(if change == Change::CompareExchange { 0 } else { register }, before);
        }
    }

    /// The register if r0 is what is there, else what is there.
    fn exchanged(&mut self, before: Value, value: Value, bytes: u8) -> Value {
        let wanted = self.get(0);
        let [there, wanted] = [before, wanted].map(|value| self.part(bytes, value));
        let is_there = self.builder.ins().icmp(IntCC::Equal, there, wanted);
        self.builder.ins().select(is_there, value, before)
    }
}
