// SPDX-License-Identifier: GPL-2.0-only

use crate::decoded::{Condition, Plain};

/// An instruction that needs nothing any more. Places are counted from the beginning of the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Plain(Plain),
    /// Goes on behind the next place, which was the other half.
    Set {
        destination: u8,
        value: u64,
    },
    Jump {
        to: usize,
    },
    JumpIf {
        condition: Condition,
        to: usize,
    },
    JumpIfLong {
        to: usize,
    },
    /// Calls a function of the object.
    Call(usize),
    /// Calls something of the kernel.
    CallKernel(usize),
    Exit,
    /// Must not be reached, for a reason.
    Never(usize),
}
