// SPDX-License-Identifier: GPL-2.0-only
//! What a disk has done, as a sample names it (docs/protocol.md).

use protocol::Metrics;

use crate::latency::Latency;

/// Names the percentiles of requests of a `kind`, read or write.
pub fn of_latency(kind: &str, latency: Latency) -> Metrics {
    let Latency { p50_ns, p95_ns, p99_ns, max_ns } = latency;
    let named = [("p50", p50_ns), ("p95", p95_ns), ("p99", p99_ns), ("max", max_ns)];
    named.map(|(name, ns)| (format!("disk_{kind}_{name}_ms"), number(ns) / 1e6)).into()
}

/// Converts a count or a time into the number of a metric.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub fn number(value: u64) -> f64 {
    value as f64
}
