// SPDX-License-Identifier: GPL-2.0-only
//! The fields of an instruction; `decoded` has what they mean.

/// Bytes of an instruction. One that loads 64 bits takes two places, the second with the high half.
pub const BYTES: usize = 8;

/// Loads 64 bits: from the instruction itself, or an address that is filled in.
pub const LOAD_64: u8 = 0x18;
pub const CALL: u8 = 0x85;

/// What the source register of a call says if it is not of a helper. The compiler says it of the kernel's functions too.
const CALLS_FUNCTION: u8 = 1;

/// Whether the second operand is a register.
const SOURCE: u8 = 0x08;
/// Bits of the code that say how many bytes are loaded or stored.
const SIZE: u8 = 0x18;
const SIZES: [(u8, u8); 4] = [(0x00, 4), (0x08, 2), (0x10, 1), (0x18, 8)];

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

    /// Whether the second operand is a register.
    pub fn has_source(self) -> bool {
        self.code & SOURCE != 0
    }

    /// How many bytes it loads or stores.
    pub fn bytes(self) -> u8 {
        let size = self.code & SIZE;
        SIZES.iter().find(|(code, _)| *code == size).map_or(0, |(_, bytes)| *bytes)
    }

    /// Loads or stores `bytes` bytes instead; None if no instruction does.
    pub fn resize(&mut self, bytes: u64) -> Option<()> {
        let (code, _) = SIZES.iter().find(|(_, each)| u64::from(*each) == bytes)?;
        self.code = self.code & !SIZE | code;
        Some(())
    }

    pub fn is_wide(self) -> bool {
        self.code == LOAD_64
    }

    /// Whether it calls a function of the object, or one that a relocation names.
    pub fn calls_function(self) -> bool {
        self.code == CALL && self.source == CALLS_FUNCTION
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
}
