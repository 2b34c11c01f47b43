// SPDX-License-Identifier: GPL-2.0-only
//! What is asked of a map, and why it may refuse.

use thiserror::Error;

/// Why a map does not do what is asked of it; the kernel's number for it goes to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MapError {
    #[error("there is no such element")]
    Missing,
    #[error("there is one already")]
    There,
    #[error("it is full, or there is no such index")]
    TooBig,
    #[error("this cannot be asked of it")]
    Invalid,
    #[error("there is no memory left")]
    NoMemory,
}

impl MapError {
    /// What the program gets (include/uapi/asm-generic/errno-base.h).
    pub fn code(self) -> u64 {
        let number: i64 = match self {
            Self::Missing => -2,
            Self::TooBig => -7,
            Self::NoMemory => -12,
            Self::There => -17,
            Self::Invalid => -22,
        };
        number.cast_unsigned()
    }
}

/// Flags of an update (include/uapi/linux/bpf.h).
pub mod flags {
    pub const ANY: u64 = 0;
    pub const ONLY_NEW: u64 = 1;
    pub const ONLY_OLD: u64 = 2;
    /// With the lock in the value held: nothing else runs meanwhile.
    pub const LOCKED: u64 = 4;
}

/// An element that a program is shown: its key, and the address of its value.
pub type Each = (Vec<u8>, u64);
