// SPDX-License-Identifier: GPL-2.0-only
//! What instructions say (Documentation/bpf/standardization/instruction-set.rst of the kernel; what only the kernel has
//! after include/linux/filter.h and kernel/bpf/verifier.c).

use thiserror::Error;

use crate::instruction::{Class, Instruction, REGISTERS};

/// An instruction of which all is known but what relocations say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoded {
    Plain(Plain),
    /// Loads 64 bits that stand in the instruction and the place after it.
    LoadWide {
        destination: u8,
        value: u64,
    },
    /// By a number of places from the next one.
    Jump {
        distance: i64,
    },
    JumpIf {
        condition: Condition,
        distance: i64,
    },
    /// Leaves a loop that has gone on for too long.
    JumpIfLong {
        distance: i64,
    },
    /// To a place that a register says.
    JumpTo {
        register: u8,
    },
    Call(Callee),
    Exit,
}

/// An instruction that goes on to the next one, and needs nothing but registers and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    Compute {
        operation: Operation,
        width: Width,
        destination: u8,
        operand: Operand,
    },
    Load {
        destination: u8,
        base: u8,
        offset: i16,
        bytes: u8,
        is_signed: bool,
    },
    Store {
        base: u8,
        offset: i16,
        bytes: u8,
        value: Operand,
    },
    /// Changes a number in memory.
    Change {
        change: Change,
        base: u8,
        offset: i16,
        bytes: u8,
        register: u8,
        /// Whether what was there before is returned: in the register, or in r0 by `CompareExchange`.
        is_fetched: bool,
    },
    /// An address in the arena, from how user space has it to how programs use it, or back.
    CastAddress {
        destination: u8,
        source: u8,
        is_for_user: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    pub comparison: Comparison,
    pub width: Width,
    pub left: u8,
    pub right: Operand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    Bits32,
    Bits64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    Register(u8),
    /// Extended with its sign.
    Immediate(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    DivideSigned,
    Remainder,
    RemainderSigned,
    Or,
    And,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    Negate,
    Move,
    /// Extends the lowest bits, as many as this, with their sign.
    Extend(u8),
    /// Turns the bytes of the lowest bits, as many as this, around, and cuts off the others.
    Swap(u8),
    /// Cuts off all but the lowest bits.
    Keep(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    /// Whether they have a bit in common.
    AnyBit,
    Above,
    AboveOrEqual,
    Below,
    BelowOrEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Add,
    Or,
    And,
    Xor,
    Exchange,
    /// Stores the register if r0 is what is there.
    CompareExchange,
    /// A load or a store that others see in order.
    LoadAcquire,
    StoreRelease,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callee {
    Helper(u32),
    /// A function of the object, or one that a relocation names.
    Function,
}

/// Why an instruction is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum NoInstruction {
    #[error("there is no instruction with the code {0:#04x} and these fields")]
    Code(u8),
    #[error("it names a register beyond r10")]
    Register,
    #[error("it takes two places, and the second is not there")]
    Half,
    #[error("it loads from a packet, as programs of old did")]
    Packet,
}

impl Decoded {
    /// Decodes an instruction; `next` is what follows it, which is a part of a wide one.
    ///
    /// # Errors
    /// There is no such instruction.
    pub fn of(instruction: Instruction, next: Option<Instruction>) -> Result<Self, NoInstruction> {
        let Instruction { destination, source, .. } = instruction;
        if usize::from(destination.max(source)) >= REGISTERS {
            return Err(NoInstruction::Register);
        }
        let decoded = match instruction.class() {
            Class::Load => return load_wide(instruction, next),
            Class::LoadRegister => load(instruction).map(Self::Plain),
            Class::StoreImmediate => {
                store(instruction, Operand::Immediate(immediate(instruction))).map(Self::Plain)
            }
            Class::StoreRegister if instruction.code & MODE == MODE_ATOMIC => {
                change(instruction).map(Self::Plain)
            }
            Class::StoreRegister => store(instruction, Operand::Register(source)).map(Self::Plain),
            Class::Arithmetic32 => compute(instruction, Width::Bits32).map(Self::Plain),
            Class::Arithmetic64 => compute(instruction, Width::Bits64).map(Self::Plain),
            Class::Jump => jump(instruction, Width::Bits64),
            Class::Jump32 => jump(instruction, Width::Bits32),
        };
        decoded.ok_or(NoInstruction::Code(instruction.code))
    }

    /// By how many places it may jump from the next one.
    pub fn distance(self) -> Option<i64> {
        match self {
            Self::Jump { distance }
            | Self::JumpIf { distance, .. }
            | Self::JumpIfLong { distance } => Some(distance),
            _ => None,
        }
    }
}

/// Bits of the code that say what is computed or compared.
const OPERATION: u8 = 0xf0;
/// Bits of the code that say how an address is used.
const MODE: u8 = 0xe0;
const MODE_PLAIN: u8 = 0x60;
const MODE_SIGNED: u8 = 0x80;
const MODE_ATOMIC: u8 = 0xc0;

fn immediate(instruction: Instruction) -> u64 {
    i64::from(instruction.immediate).cast_unsigned()
}

fn operand(instruction: Instruction) -> Operand {
    if instruction.has_source() {
        Operand::Register(instruction.source)
    } else {
        Operand::Immediate(immediate(instruction))
    }
}

fn load_wide(
    instruction: Instruction,
    next: Option<Instruction>,
) -> Result<Decoded, NoInstruction> {
    if !instruction.is_wide() {
        return Err(match instruction.code & MODE {
            0x20 | 0x40 => NoInstruction::Packet,
            _ => NoInstruction::Code(instruction.code),
        });
    }
    let next = next.filter(|next| next.code == 0).ok_or(NoInstruction::Half)?;
    let [low, high] = [instruction, next].map(|each| u64::from(each.immediate.cast_unsigned()));
    Ok(Decoded::LoadWide { destination: instruction.destination, value: high << 32 | low })
}

fn load(instruction: Instruction) -> Option<Plain> {
    let Instruction { destination, source: base, offset, .. } = instruction;
    let bytes = instruction.bytes();
    let is_signed = match instruction.code & MODE {
        MODE_PLAIN => false,
        MODE_SIGNED if bytes < 8 => true,
        _ => return None,
    };
    Some(Plain::Load { destination, base, offset, bytes, is_signed })
}

fn store(instruction: Instruction, value: Operand) -> Option<Plain> {
    let Instruction { destination: base, offset, .. } = instruction;
    let is_plain = instruction.code & MODE == MODE_PLAIN;
    is_plain.then(|| Plain::Store { base, offset, bytes: instruction.bytes(), value })
}

fn change(instruction: Instruction) -> Option<Plain> {
    let Instruction { destination, source, offset, immediate, .. } = instruction;
    let (change, is_fetched) = match immediate {
        0x00 | 0x01 => (Change::Add, immediate == 0x01),
        0x40 | 0x41 => (Change::Or, immediate == 0x41),
        0x50 | 0x51 => (Change::And, immediate == 0x51),
        0xa0 | 0xa1 => (Change::Xor, immediate == 0xa1),
        0xe1 => (Change::Exchange, true),
        0xf1 => (Change::CompareExchange, true),
        0x100 => (Change::LoadAcquire, true),
        0x110 => (Change::StoreRelease, false),
        _ => return None,
    };
    let bytes = instruction.bytes();
    // A load has its registers the other way round.
    let (base, register) = match change {
        Change::LoadAcquire => (source, destination),
        _ => (destination, source),
    };
    let is_any_size = matches!(change, Change::LoadAcquire | Change::StoreRelease);
    (is_any_size || bytes >= 4).then_some(Plain::Change {
        change,
        base,
        offset,
        bytes,
        register,
        is_fetched,
    })
}

fn compute(instruction: Instruction, width: Width) -> Option<Plain> {
    let Instruction { code, destination, source, offset, .. } = instruction;
    let is_register = instruction.has_source();
    if code & OPERATION == 0xb0 && offset == 1 && is_register && width == Width::Bits64 {
        return match instruction.immediate {
            1 => Some(Plain::CastAddress { destination, source, is_for_user: false }),
            0x1_0000 => Some(Plain::CastAddress { destination, source, is_for_user: true }),
            _ => None,
        };
    }
    let operation = match (code & OPERATION, offset) {
        (0x00, 0) => Operation::Add,
        (0x10, 0) => Operation::Subtract,
        (0x20, 0) => Operation::Multiply,
        (0x30, 0) => Operation::Divide,
        (0x30, 1) => Operation::DivideSigned,
        (0x40, 0) => Operation::Or,
        (0x50, 0) => Operation::And,
        (0x60, 0) => Operation::ShiftLeft,
        (0x70, 0) => Operation::ShiftRight,
        (0x80, 0) if !is_register => Operation::Negate,
        (0x90, 0) => Operation::Remainder,
        (0x90, 1) => Operation::RemainderSigned,
        (0xa0, 0) => Operation::Xor,
        (0xb0, 0) => Operation::Move,
        (0xb0, 8) if is_register => Operation::Extend(8),
        (0xb0, 16) if is_register => Operation::Extend(16),
        (0xb0, 32) if is_register && width == Width::Bits64 => Operation::Extend(32),
        (0xc0, 0) => Operation::ShiftRightSigned,
        (0xd0, 0) => return swap(instruction, width),
        _ => return None,
    };
    Some(Plain::Compute { operation, width, destination, operand: operand(instruction) })
}

/// Bytes are turned to big-endian or without a condition; what is little-endian already is only cut.
fn swap(instruction: Instruction, width: Width) -> Option<Plain> {
    let bits = match instruction.immediate {
        16 => 16,
        32 => 32,
        64 => 64,
        _ => return None,
    };
    let operation = match (width, instruction.has_source()) {
        (Width::Bits64, false) | (Width::Bits32, true) => Operation::Swap(bits),
        (Width::Bits32, _) => Operation::Keep(bits),
        (Width::Bits64, _) => return None,
    };
    let destination = instruction.destination;
    // All 64 bits of the register are read.
    let operand = Operand::Register(destination);
    Some(Plain::Compute { operation, width: Width::Bits64, destination, operand })
}

fn jump(instruction: Instruction, width: Width) -> Option<Decoded> {
    let Instruction { code, destination, source, offset, immediate, .. } = instruction;
    let (is_64, is_register) = (width == Width::Bits64, instruction.has_source());
    let comparison = match code & OPERATION {
        0x00 if is_register => {
            return is_64.then_some(Decoded::JumpTo { register: destination });
        }
        0x00 => {
            let distance = if is_64 { offset.into() } else { immediate.into() };
            return Some(Decoded::Jump { distance });
        }
        0x10 => Comparison::Equal,
        0x20 => Comparison::Above,
        0x30 => Comparison::AboveOrEqual,
        0x40 => Comparison::AnyBit,
        0x50 => Comparison::NotEqual,
        0x60 => Comparison::Greater,
        0x70 => Comparison::GreaterOrEqual,
        0x80 if is_64 && !is_register => {
            return match source {
                0 => Some(Decoded::Call(Callee::Helper(immediate.cast_unsigned()))),
                1 | 2 => Some(Decoded::Call(Callee::Function)),
                _ => None,
            };
        }
        0x90 if is_64 && !is_register => return Some(Decoded::Exit),
        0xa0 => Comparison::Below,
        0xb0 => Comparison::BelowOrEqual,
        0xc0 => Comparison::Less,
        0xd0 => Comparison::LessOrEqual,
        0xe0 if is_64 && !is_register => {
            return (source == 0).then_some(Decoded::JumpIfLong { distance: offset.into() });
        }
        _ => return None,
    };
    let (left, right) = (destination, operand(instruction));
    let condition = Condition { comparison, width, left, right };
    Some(Decoded::JumpIf { condition, distance: offset.into() })
}
