// SPDX-License-Identifier: GPL-2.0-only
//! What instructions compute, exactly as the kernel's own interpreter and compilers do.

use crate::decoded::{Change, Comparison, Operation, Width};

/// The result of an operation on the destination and the second operand.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what the instruction takes")]
pub fn compute(operation: Operation, width: Width, destination: u64, operand: u64) -> u64 {
    match width {
        Width::Bits64 => compute_64(operation, destination, operand),
        Width::Bits32 => compute_32(operation, destination as u32, operand as u32).into(),
    }
}

macro_rules! compute {
    ($name:ident, $unsigned:ty) => {
        fn $name(operation: Operation, destination: $unsigned, operand: $unsigned) -> $unsigned {
            let (signed, divisor) = (destination.cast_signed(), operand.cast_signed());
            #[allow(clippy::cast_possible_truncation, reason = "only the lowest bits count")]
            let shift = operand as u32;
            match operation {
                Operation::Add => destination.wrapping_add(operand),
                Operation::Subtract => destination.wrapping_sub(operand),
                Operation::Multiply => destination.wrapping_mul(operand),
                // Division by 0 gives 0, its rest what was divided.
                Operation::Divide => destination.checked_div(operand).unwrap_or(0),
                Operation::DivideSigned if operand == 0 => 0,
                Operation::DivideSigned => signed.wrapping_div(divisor).cast_unsigned(),
                Operation::Remainder => destination.checked_rem(operand).unwrap_or(destination),
                Operation::RemainderSigned if operand == 0 => destination,
                Operation::RemainderSigned => signed.wrapping_rem(divisor).cast_unsigned(),
                Operation::Or => destination | operand,
                Operation::And => destination & operand,
                Operation::Xor => destination ^ operand,
                Operation::ShiftLeft => destination.wrapping_shl(shift),
                Operation::ShiftRight => destination.wrapping_shr(shift),
                Operation::ShiftRightSigned => signed.wrapping_shr(shift).cast_unsigned(),
                Operation::Negate => destination.wrapping_neg(),
                Operation::Move => operand,
                Operation::Extend(bits) => {
                    let unused = unused(bits, <$unsigned>::BITS);
                    ((operand << unused).cast_signed() >> unused).cast_unsigned()
                }
                Operation::Swap(bits) => {
                    let unused = unused(bits, <$unsigned>::BITS);
                    (operand << unused).swap_bytes()
                }
                Operation::Keep(bits) => {
                    let unused = unused(bits, <$unsigned>::BITS);
                    operand << unused >> unused
                }
            }
        }
    };
}

compute!(compute_64, u64);
compute!(compute_32, u32);

fn unused(bits: u8, of: u32) -> u32 {
    of.saturating_sub(bits.into())
}

/// Extends a number of `bytes` bytes with its sign.
pub fn extend(value: u64, bytes: u8) -> u64 {
    compute_64(Operation::Extend(bytes * 8), 0, value)
}

/// Whether a comparison holds.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is compared")]
pub fn holds(comparison: Comparison, width: Width, left: u64, right: u64) -> bool {
    let (left, right, signed, other) = match width {
        Width::Bits64 => (left, right, left.cast_signed(), right.cast_signed()),
        Width::Bits32 => {
            let (left, right) = (left as u32, right as u32);
            (left.into(), right.into(), left.cast_signed().into(), right.cast_signed().into())
        }
    };
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::AnyBit => left & right != 0,
        Comparison::Above => left > right,
        Comparison::AboveOrEqual => left >= right,
        Comparison::Below => left < right,
        Comparison::BelowOrEqual => left <= right,
        Comparison::Greater => signed > other,
        Comparison::GreaterOrEqual => signed >= other,
        Comparison::Less => signed < other,
        Comparison::LessOrEqual => signed <= other,
    }
}

/// What a number in memory becomes, from what it was, the register, and r0; all have as many bits as the number.
pub fn change(change: Change, before: u64, register: u64, r0: u64) -> u64 {
    match change {
        Change::Add => before.wrapping_add(register),
        Change::Or => before | register,
        Change::And => before & register,
        Change::Xor => before ^ register,
        Change::Exchange | Change::StoreRelease => register,
        Change::CompareExchange if before == r0 => register,
        Change::CompareExchange | Change::LoadAcquire => before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoded::{Callee, Condition, Decoded, NoInstruction, Operand, Plain};
    use crate::instruction::Instruction;

    fn decode(code: u8, source: u8, offset: i16, immediate: i32) -> Result<Decoded, NoInstruction> {
        let instruction = Instruction { code, destination: 0, source, offset, immediate };
        Decoded::of(instruction, None)
    }

    fn run(code: u8, offset: i16, immediate: i32, destination: u64, second: u64) -> Option<u64> {
        match decode(code, 1, offset, immediate) {
            Ok(Decoded::Plain(Plain::Compute { operation, width, operand, .. })) => {
                let operand = match operand {
                    Operand::Register(0) => destination,
                    Operand::Register(_) => second,
                    Operand::Immediate(value) => value,
                };
                Some(compute(operation, width, destination, operand))
            }
            _ => None,
        }
    }

    #[test]
    fn edges_are_those_of_the_instruction_set() {
        let min = i64::MIN.cast_unsigned();
        for (what, code, offset, destination, operand, wanted) in [
            ("division by 0", 0x3f, 0, 7, 0, 0),
            ("rest of a division by 0", 0x9f, 0, 7, 0, 7),
            ("rest of a division by 0, 32 bits", 0x9c, 0, 1 << 40 | 7, 0, 7),
            ("signed division by 0", 0x3f, 1, 7, 0, 0),
            ("the smallest by -1", 0x3f, 1, min, u64::MAX, min),
            ("rest of the smallest by -1", 0x9f, 1, min, u64::MAX, 0),
            ("-7 by 2", 0x3f, 1, (-7_i64).cast_unsigned(), 2, (-3_i64).cast_unsigned()),
            ("rest of -7 by 2", 0x9f, 1, (-7_i64).cast_unsigned(), 2, u64::MAX),
            ("-7 by 2, 32 bits", 0x3c, 1, (-7_i64).cast_unsigned(), 2, 0xffff_fffd),
            ("a shift by more bits than there are", 0x6f, 0, 1, 65, 2),
            ("a shift by more bits than there are, 32 bits", 0x6c, 0, 1, 33, 2),
            ("a signed shift", 0xcf, 0, min, 63, u64::MAX),
            ("a signed shift, 32 bits", 0xcc, 0, 1 << 31, 31, 0xffff_ffff),
            ("an overflow", 0x0c, 0, 0xffff_ffff, 1, 0),
            ("the negative of 1", 0x87, 0, 1, 0, u64::MAX),
            ("the negative of 1, 32 bits", 0x84, 0, 1, 0, 0xffff_ffff),
            ("a move of 8 bits with their sign", 0xbf, 8, 0, 0x80, (-128_i64).cast_unsigned()),
            (
                "a move of 32 bits with their sign",
                0xbf,
                32,
                0,
                1 << 31,
                (-1_i64 << 31).cast_unsigned(),
            ),
            ("a move of 16 bits with their sign, 32 bits", 0xbc, 16, 0, 0x8000, 0xffff_8000),
            ("a move of 32 bits", 0xbc, 0, 0, u64::MAX, 0xffff_ffff),
        ] {
            assert_eq!(run(code, offset, 0, destination, operand), Some(wanted), "{what}");
        }
        let value = 0x0102_0304_0506_0708;
        for (code, width, wanted) in [
            (0xdc, 16, 0x0807),
            (0xdc, 32, 0x0807_0605),
            (0xdc, 64, 0x0807_0605_0403_0201),
            (0xd4, 16, 0x0708),
            (0xd4, 64, value),
            (0xd7, 32, 0x0807_0605),
        ] {
            assert_eq!(run(code, 0, width, value, 0), Some(wanted), "{code:x} {width}");
        }
        assert_eq!(run(0xd7, 0, 24, value, 0), None);
        assert_eq!(run(0xdf, 0, 16, value, 0), None);
        assert_eq!(run(0x0f, 1, 0, 1, 1), None);
        assert_eq!(run(0xe7, 0, 0, 1, 1), None);
        assert_eq!(run(0xbc, 32, 0, 0, u64::MAX), None);
    }

    #[test]
    fn conditions_know_signs_and_halves() {
        let taken = |code, left, right| match decode(code, 1, 0, 0) {
            Ok(Decoded::JumpIf { condition: Condition { comparison, width, .. }, .. }) => {
                Some(holds(comparison, width, left, right))
            }
            _ => None,
        };
        let (minus, high) = (u64::MAX, 1 << 32);
        for (code, left, right, wanted) in [
            (0x1d, high, 0, false),
            (0x1e, high, 0, true),
            (0x2d, minus, 1, true),
            (0x6d, minus, 1, false),
            (0x6e, minus, 1, false),
            (0xcd, minus, 1, true),
            (0xcd, 0x8000_0000, 1, false),
            (0xce, 0x8000_0000, 1, true),
            (0x3d, 1, 1, true),
            (0x7d, minus, minus, true),
            (0xad, 1, 1, false),
            (0xbd, 1, 1, true),
            (0xdd, minus, 1, true),
            (0x4d, 6, 2, true),
            (0x4e, high, high, false),
            (0x5d, high, 0, true),
            (0x5e, high, 0, false),
        ] {
            assert_eq!(taken(code, left, right), Some(wanted), "{code:x} {left:x} {right:x}");
        }
        assert_eq!([taken(0x05, 0, 0), taken(0x95, 0, 0), taken(0x0f, 0, 0)], [None; 3]);
    }

    #[test]
    fn numbers_in_memory_change_by_the_register_or_by_what_was_there() {
        for (immediate, wanted, is_fetched) in [
            (0x00, 12, false),
            (0x01, 12, true),
            (0x40, 10 | 2, false),
            (0x51, 10 & 2, true),
            (0xa0, 10 ^ 2, false),
            (0xe1, 2, true),
            (0xf1, 2, true),
            (0x100, 10, true),
            (0x110, 2, false),
        ] {
            let Ok(Decoded::Plain(Plain::Change { change: which, is_fetched: fetched, .. })) =
                decode(0xdb, 1, 0, immediate)
            else {
                panic!("{immediate:x}")
            };
            assert_eq!((change(which, 10, 2, 10), fetched), (wanted, is_fetched), "{immediate:x}");
        }
        assert_eq!(change(Change::CompareExchange, 10, 2, 11), 10);
        // Numbers of one byte are only loaded and stored.
        assert_eq!(decode(0xd3, 1, 0, 0x01), Err(NoInstruction::Code(0xd3)));
        let loaded = decode(0xd3, 1, 0, 0x100);
        assert!(matches!(
            loaded,
            Ok(Decoded::Plain(Plain::Change { base: 1, register: 0, bytes: 1, .. }))
        ));
        let stored = decode(0xd3, 1, 0, 0x110);
        assert!(matches!(
            stored,
            Ok(Decoded::Plain(Plain::Change { base: 0, register: 1, bytes: 1, .. }))
        ));
    }

    #[test]
    fn what_is_no_instruction_is_told_by_its_code() {
        for (code, offset, immediate) in [
            (0xdb, 0, 0x02),
            (0xdb, 0, 0x10),
            (0x8f, 0, 0),
            (0xe6, 0, 0),
            (0x9d, 0, 0),
            (0x99, 0, 0),
            (0xbf, 1, 2),
            (0xb7, 8, 0),
            (0x30, 0, 0),
        ] {
            let wanted =
                if code == 0x30 { NoInstruction::Packet } else { NoInstruction::Code(code) };
            assert_eq!(decode(code, 1, offset, immediate), Err(wanted), "{code:x}");
        }
        assert_eq!(decode(0xb7, 11, 0, 0), Err(NoInstruction::Register));
        assert_eq!(decode(0x18, 0, 0, 0), Err(NoInstruction::Half));
        assert_eq!(decode(0x85, 3, 0, 0), Err(NoInstruction::Code(0x85)));
        let cast = |immediate| decode(0xbf, 1, 1, immediate);
        for (immediate, is_for_user) in [(1, false), (0x1_0000, true)] {
            let wanted = Plain::CastAddress { destination: 0, source: 1, is_for_user };
            assert_eq!(cast(immediate), Ok(Decoded::Plain(wanted)));
        }
        assert_eq!(decode(0x0d, 0, 0, 0), Ok(Decoded::JumpTo { register: 0 }));
        let helper = Decoded::Call(Callee::Helper(7));
        assert_eq!(decode(0x85, 0, 0, 7), Ok(helper));
        assert_eq!(decode(0xe5, 0, -3, 0), Ok(Decoded::JumpIfLong { distance: -3 }));
        assert_eq!(decode(0x06, 0, 5, -3), Ok(Decoded::Jump { distance: -3 }));
    }
}
