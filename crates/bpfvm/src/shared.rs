// SPDX-License-Identifier: GPL-2.0-only
//! What compiled programs and the machine that runs them know of each other.
#![cfg_attr(
    not(feature = "jit"),
    allow(dead_code, reason = "only compiled programs use all of it")
)]

/// What compiled programs and the machine share, at fixed places.
#[derive(Debug)]
#[repr(C)]
pub struct Shared {
    /// The host's address of the guest's address 0.
    pub base: u64,
    /// Instructions that were executed since the machine began.
    pub executed: u64,
    /// The count of instructions at which the current call has to end.
    pub end: u64,
    /// The count at which loops that know how to end do so.
    pub long: u64,
    /// The end of the stack of the function that runs.
    pub frame: u64,
    /// The last end of a stack that the current call may come to.
    pub deepest: u64,
    /// Whether and why the program must not go on: one of the constants of `stop`.
    pub stop: u64,
    /// The function, and in the lower half the step, that is called from or that stops.
    pub site: u64,
    /// The number of what it calls of the kernel.
    pub call: u64,
    /// The address of the machine's function that calls the kernel's.
    pub call_kernel: usize,
    /// Where the stack of the host was when compiled instructions were entered.
    pub landing: u64,
    /// The address of the memory that was not there, and of the instruction of the host that wanted it.
    pub wanted: u64,
    /// Whether it was to be written.
    pub is_write: bool,
    pub instruction: u64,
}

/// Bytes of the stack of a function (include/linux/filter.h, `MAX_BPF_STACK`).
pub const STACK: u64 = 512;

/// Why a program must not go on.
pub mod stop {
    pub const GOES_ON: u64 = 0;
    /// The machine has noted a fault itself.
    pub const FAILED: u64 = 1;
    pub const ENDLESS: u64 = 2;
    pub const TOO_DEEP: u64 = 3;
    pub const PAST_END: u64 = 4;
    /// The step must not be reached.
    pub const NEVER: u64 = 5;
    /// Memory was not there.
    pub const NOT_THERE: u64 = 6;
}

impl Shared {
    /// The function and the step.
    #[expect(clippy::cast_possible_truncation, reason = "these are the halves")]
    pub fn site(&self) -> (usize, usize) {
        ((self.site >> 32) as usize, self.site as u32 as usize)
    }
}

/// A function and a step as one number.
pub fn site(function: usize, step: usize) -> u64 {
    (function as u64) << 32 | step as u64
}
