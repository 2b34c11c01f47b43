// SPDX-License-Identifier: GPL-2.0-only
//! Where in the window what is.

/// Bytes of the window: addresses are cut to as many bits as it has.
pub const SIZE: u64 = 1 << 33;
pub const MASK: u64 = SIZE - 1;

/// Bytes of addresses that are reserved, so that no access at the end of the window leaves them.
pub const RESERVED: u64 = SIZE + 64 * 1024;

/// What is here reads as 0 and cannot be written: the kernel gives programs 0 if they follow a pointer that is null.
pub const HEAP: u64 = 64 * 1024;

/// From here on lies what programs share with user space. The lowest 32 bits of an address in it are its place there.
pub const ARENA: u64 = 1 << 32;

pub const PAGE: u64 = 4096;

/// As the host counts bytes: it has addresses of 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "it is checked that nothing is cut off")]
pub const fn length(bytes: u64) -> usize {
    const { assert!(usize::BITS == u64::BITS) };
    bytes as usize
}
