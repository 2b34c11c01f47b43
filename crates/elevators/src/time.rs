// SPDX-License-Identifier: GPL-2.0-only
//! Times as elevators are told them, in nanoseconds.

/// Nanoseconds in a millisecond.
pub const MS: u64 = 1_000_000;

/// No time that is handed in is later than this, which is 146 years: what is added to it has room.
pub const LATEST_NS: u64 = 1 << 62;
