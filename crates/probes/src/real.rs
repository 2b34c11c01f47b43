// SPDX-License-Identifier: GPL-2.0-only
//! Numbers of the kernel as numbers of metrics.

/// A number as a metric.
#[expect(clippy::cast_precision_loss, reason = "times and counts of a run stay below 2^53")]
pub fn real(number: u64) -> f64 {
    number as f64
}
