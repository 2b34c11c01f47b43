// SPDX-License-Identifier: GPL-2.0-only
//! Instructions of BPF (Documentation/bpf/standardization/instruction-set.rst of the kernel).

/// Bytes of an instruction. One that loads 64 bits takes two places, the second with the high half.
pub const BYTES: usize = 8;

/// Loads 64 bits: from the instruction itself, or an address that is filled in.
pub const LOAD_64: u8 = 0x18;
pub const CALL: u8 = 0x85;
pub const EXIT: u8 = 0x95;
/// Goes on without a condition, to the offset (`JUMP`) or to the immediate (`JUMP_FAR`).
pub const JUMP: u8 = 0x05;
pub const JUMP_FAR: u8 = 0x06;
/// Leaves a loop that has gone on for too long.
pub const MAY_GOTO: u8 = 0xe5;

/// What the source register of a call says if it is not of a helper. The compiler says it of the kernel's functions too.
pub const CALLS_FUNCTION: u8 = 1;

/// The register that holds the end of the function's stack.
pub const FRAME: usize = 10;
pub const REGISTERS: usize = 11;

/// What an instruction does, by the lowest bits of its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Loads an immediate of 64 bits; old ways to load from a packet.
    Load,
    LoadRegister,
    StoreImmediate,
    StoreRegister,
    Arithmetic32,
    Jump,
    Jump32,
    Arithmetic64,
}

/// Bits of the code that say what is computed or compared.
pub const OPERATION: u8 = 0xf0;
/// Whether the second operand is a register.
pub const SOURCE: u8 = 0x08;
/// Bits of the code that say how an address is used.
pub const MODE: u8 = 0xe0;
pub const MODE_PLAIN: u8 = 0x60;
/// The loaded number is extended with its sign.
pub const MODE_SIGNED: u8 = 0x80;
pub const MODE_ATOMIC: u8 = 0xc0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    pub code: u8,
    pub destination: u8,
    pub source: u8,
    pub offset: i16,
    pub immediate: i32,
}

impl Instruction {
    pub fn read(bytes: [u8; BYTES]) -> Self {
        Self {
            code: bytes[0],
            destination: bytes[1] & 0xf,
            source: bytes[1] >> 4,
            offset: i16::from_le_bytes([bytes[2], bytes[3]]),
            immediate: i32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
        }
    }

    pub fn class(self) -> Class {
        match self.code & 0x07 {
            0 => Class::Load,
            1 => Class::LoadRegister,
            2 => Class::StoreImmediate,
            3 => Class::StoreRegister,
            4 => Class::Arithmetic32,
            5 => Class::Jump,
            6 => Class::Jump32,
            _ => Class::Arithmetic64,
        }
    }

    /// How many bytes it loads or stores.
    pub fn width(self) -> usize {
        match self.code & 0x18 {
            0x00 => 4,
            0x08 => 2,
            0x10 => 1,
            _ => 8,
        }
    }

    pub fn is_wide(self) -> bool {
        self.code == LOAD_64
    }

    /// Whether it calls a function of the object, or one that a relocation names.
    pub fn calls_function(self) -> bool {
        self.code == CALL && self.source == CALLS_FUNCTION
    }

    /// The number of the helper that it calls.
    pub fn helper(self) -> Option<u32> {
        (self.code == CALL && self.source == 0).then_some(self.immediate.cast_unsigned())
    }

    /// By how many places it may jump from the next one.
    pub fn jump(self) -> Option<i64> {
        match self.code {
            CALL | EXIT => None,
            JUMP_FAR => Some(self.immediate.into()),
            _ => {
                let is_jump = matches!(self.class(), Class::Jump | Class::Jump32);
                is_jump.then_some(self.offset.into())
            }
        }
    }
}

/// Reads instructions; bytes beyond the last whole one are left.
pub fn read_all(bytes: &[u8]) -> Vec<Instruction> {
    bytes.as_chunks::<BYTES>().0.iter().map(|each| Instruction::read(*each)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_kernel_has_them() {
        let read = Instruction::read([0x7b, 0x2a, 0xf8, 0xff, 1, 0, 0, 0x80]);
        assert_eq!((read.code, read.destination, read.source), (0x7b, 10, 2));
        assert_eq!((read.offset, read.immediate), (-8, i32::MIN + 1));
        assert_eq!(read_all(&[0x95, 0, 0, 0, 0, 0, 0, 0, 1]).len(), 1);
    }

    #[test]
    fn jumps_are_told_from_calls() {
        let jump = |code, offset, immediate| {
            Instruction { code, destination: 0, source: 0, offset, immediate }.jump()
        };
        assert_eq!(jump(JUMP, -3, 9), Some(-3));
        assert_eq!(jump(JUMP_FAR, -3, 9), Some(9));
        assert_eq!(jump(0x1d, 7, 0), Some(7));
        assert_eq!(jump(0x16, 7, 0), Some(7));
        assert_eq!(jump(MAY_GOTO, 7, 0), Some(7));
        assert_eq!([jump(CALL, 7, 1), jump(EXIT, 0, 0), jump(0x07, 7, 7)], [None; 3]);
    }
}
