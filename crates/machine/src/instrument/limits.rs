// SPDX-License-Identifier: GPL-2.0-only
//! Limits of this process: getrlimit(2).

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::libc;

/// Every limit that Linux has (asm-generic/resource.h), in the order of its numbers.
pub const NAMES: [&str; 16] = [
    "cpu",
    "fsize",
    "data",
    "stack",
    "core",
    "rss",
    "nproc",
    "nofile",
    "memlock",
    "as",
    "locks",
    "sigpending",
    "msgqueue",
    "nice",
    "rtprio",
    "rttime",
];

/// Soft and hard limits, by number.
///
/// # Errors
/// The kernel does not show one.
pub fn read() -> Result<Vec<(u64, u64)>> {
    (0..NAMES.len()).map(read_one).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "there are sixteen")]
fn read_one(number: usize) -> Result<(u64, u64)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure outlives the call.
    Errno::result(unsafe { libc::getrlimit(number as u32, &raw mut limit) })?;
    Ok((limit.rlim_cur, limit.rlim_max))
}

/// # Errors
/// Only root may raise a hard limit.
#[expect(clippy::cast_possible_truncation, reason = "there are sixteen")]
pub fn set(number: usize, soft: u64, hard: u64) -> Result<()> {
    let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: the structure outlives the call.
    Errno::result(unsafe { libc::setrlimit(number as u32, &raw const limit) })
        .with_context(|| format!("limit {}", NAMES[number]))?;
    Ok(())
}

/// The soft limit, and the hard one if that is another.
pub fn show((soft, hard): (u64, u64)) -> String {
    let word = |value| match value {
        libc::RLIM_INFINITY => "unlimited".to_owned(),
        value => value.to_string(),
    };
    if soft == hard { word(soft) } else { format!("{} of {}", word(soft), word(hard)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_limits_are_shown_where_they_differ() {
        assert_eq!(show((5, 5)), "5");
        assert_eq!(show((5, libc::RLIM_INFINITY)), "5 of unlimited");
    }
}
