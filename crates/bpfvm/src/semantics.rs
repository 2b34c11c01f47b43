// SPDX-License-Identifier: GPL-2.0-only
//! What instructions compute, exactly as the kernel's own interpreter and compilers do.

use crate::instruction::{Class, Instruction, OPERATION, SOURCE};

/// The result of an instruction that computes, from the destination and the second operand; None for an operation that
/// does not exist.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what the instruction takes")]
pub fn compute(instruction: Instruction, destination: u64, operand: u64) -> Option<u64> {
    if instruction.code & OPERATION == SWAP {
        return swap(instruction, destination);
    }
    match instruction.class() {
        Class::Arithmetic64 => compute_64(instruction, destination, operand),
        Class::Arithmetic32 => {
            compute_32(instruction, destination as u32, operand as u32).map(u64::from)
        }
        _ => None,
    }
}

const SWAP: u8 = 0xd0;

/// The immediate as an operand: extended with its sign.
pub fn immediate(instruction: Instruction) -> u64 {
    i64::from(instruction.immediate).cast_unsigned()
}

macro_rules! compute {
    ($name:ident, $unsigned:ty, $signed:ty) => {
        fn $name(
            instruction: Instruction,
            destination: $unsigned,
            operand: $unsigned,
        ) -> Option<$unsigned> {
            let (signed, divisor) = (destination.cast_signed(), operand.cast_signed());
            let offset = instruction.offset;
            // Only what divides or moves has other forms.
            let is_plain =
                offset == 0 || matches!(instruction.code & OPERATION, 0x30 | 0x90 | 0xb0);
            // More bits than the number has are cut off.
            #[allow(clippy::cast_possible_truncation, reason = "only the lowest bits count")]
            let shift = operand as u32;
            let result = match (instruction.code & OPERATION, offset) {
                (0x00, _) => destination.wrapping_add(operand),
                (0x10, _) => destination.wrapping_sub(operand),
                (0x20, _) => destination.wrapping_mul(operand),
                // Division by 0 gives 0, its rest what was divided.
                (0x30, 0) => destination.checked_div(operand).unwrap_or(0),
                (0x30, 1) if operand == 0 => 0,
                (0x30, 1) => signed.wrapping_div(divisor).cast_unsigned(),
                (0x40, _) => destination | operand,
                (0x50, _) => destination & operand,
                (0x60, _) => destination.wrapping_shl(shift),
                (0x70, _) => destination.wrapping_shr(shift),
                (0x80, _) => destination.wrapping_neg(),
                (0x90, 0) => destination.checked_rem(operand).unwrap_or(destination),
                (0x90, 1) if operand == 0 => destination,
                (0x90, 1) => signed.wrapping_rem(divisor).cast_unsigned(),
                (0xa0, _) => destination ^ operand,
                (0xb0, 0) => operand,
                (0xb0, bits @ (8 | 16 | 32)) => {
                    let unused = <$unsigned>::BITS.checked_sub(u32::from(bits.cast_unsigned()))?;
                    if unused == 0 {
                        return None;
                    }
                    ((operand << unused).cast_signed() >> unused).cast_unsigned()
                }
                (0xc0, _) => signed.wrapping_shr(shift).cast_unsigned(),
                _ => return None,
            };
            is_plain.then_some(result)
        }
    };
}

compute!(compute_64, u64, i64);
compute!(compute_32, u32, i32);

/// Turns the bytes of the lowest 16, 32 or 64 bits around, or only cuts the others off.
#[expect(clippy::cast_possible_truncation, reason = "the other bits are cut off")]
fn swap(instruction: Instruction, value: u64) -> Option<u64> {
    let is_always = instruction.class() == Class::Arithmetic64;
    // To big-endian, or without a condition.
    let turns = is_always || instruction.code & SOURCE != 0;
    if is_always && instruction.code & SOURCE != 0 {
        return None;
    }
    Some(match (instruction.immediate, turns) {
        (16, true) => (value as u16).swap_bytes().into(),
        (16, false) => (value as u16).into(),
        (32, true) => (value as u32).swap_bytes().into(),
        (32, false) => (value as u32).into(),
        (64, true) => value.swap_bytes(),
        (64, false) => value,
        _ => return None,
    })
}

/// Whether a jump with a condition is taken; None for one that has none, or does not exist.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is compared")]
pub fn is_taken(instruction: Instruction, left: u64, right: u64) -> Option<bool> {
    match instruction.class() {
        Class::Jump => {
            compare(instruction, (left, right), (left.cast_signed(), right.cast_signed()))
        }
        Class::Jump32 => {
            let (left, right) = (left as u32, right as u32);
            let signed = (left.cast_signed().into(), right.cast_signed().into());
            compare(instruction, (left.into(), right.into()), signed)
        }
        _ => None,
    }
}

fn compare(
    instruction: Instruction,
    (left, right): (u64, u64),
    (signed, other): (i64, i64),
) -> Option<bool> {
    Some(match instruction.code & OPERATION {
        0x10 => left == right,
        0x20 => left > right,
        0x30 => left >= right,
        0x40 => left & right != 0,
        0x50 => left != right,
        0x60 => signed > other,
        0x70 => signed >= other,
        0xa0 => left < right,
        0xb0 => left <= right,
        0xc0 => signed < other,
        0xd0 => signed <= other,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(code: u8, offset: i16, immediate: i32, destination: u64, operand: u64) -> Option<u64> {
        let instruction = Instruction { code, destination: 0, source: 1, offset, immediate };
        compute(instruction, destination, operand)
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
        let holds = |code, left, right| {
            let instruction =
                Instruction { code, destination: 0, source: 1, offset: 0, immediate: 0 };
            is_taken(instruction, left, right)
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
            assert_eq!(holds(code, left, right), Some(wanted), "{code:x} {left:x} {right:x}");
        }
        assert_eq!([holds(0x05, 0, 0), holds(0x95, 0, 0), holds(0x0f, 0, 0)], [None; 3]);
    }
}
