// SPDX-License-Identifier: GPL-2.0-only
//! Times that are passed to elevators, in nanoseconds.

/// Nanoseconds in a millisecond.
pub const MS: u64 = 1_000_000;

/// Latest time that may be passed, 146 years, so that sums with it do not overflow.
pub const LATEST_NS: u64 = 1 << 62;
