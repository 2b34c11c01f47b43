// SPDX-License-Identifier: GPL-2.0-only
//! What is asked of a map, and why it may refuse.

use thiserror::Error;

use crate::errno::{Errno, returned};

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
    /// What the program gets.
    pub fn code(self) -> u64 {
        returned(match self {
            Self::Missing => Errno::NOENT,
            Self::TooBig => Errno::TOOBIG,
            Self::NoMemory => Errno::NOMEM,
            Self::There => Errno::EXIST,
            Self::Invalid => Errno::INVAL,
        })
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
