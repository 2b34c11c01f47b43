// SPDX-License-Identifier: GPL-2.0-only
//! Counts as numbers to print and divide.

/// A count as a floating-point number.
#[expect(
    clippy::cast_precision_loss,
    reason = "up to 2^53 it is exact: bytes, loops, ns and steps of 104 days"
)]
pub fn as_f64(count: impl TryInto<u64>) -> f64 {
    count.try_into().unwrap_or(u64::MAX) as f64
}

#[cfg(test)]
mod tests {
    use super::as_f64;

    #[test]
    fn counts_are_exact() {
        assert_eq!(as_f64(0u64), 0.0);
        assert_eq!(as_f64(12usize), 12.0);
        assert_eq!(as_f64(1u128 << 53), 9_007_199_254_740_992.0);
    }
}
