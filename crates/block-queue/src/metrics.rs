// SPDX-License-Identifier: GPL-2.0-only
//! The metrics of a disk (docs/protocol.md).

use protocol::{Metric, Metrics, metric_table};

use crate::latency::Latency;

metric_table! {
    /// What is counted of a disk: by the server of one that is made, or by the kernel of one that is borrowed.
    METRICS:
    DISK_REQUESTS = Metric::plain("disk_requests", "", "disk: requests of the kernel");
    DISK_SERVED = Metric::plain("disk_served", "", "disk: requests served, merged ones once");
    DISK_BUSY_S = Metric::plain("disk_busy_s", "s", "disk: time with a request under way");
    DISK_HELD_S = Metric::plain("disk_held_s", "s", "disk: time held idle by the elevator");
    DISK_READ_KB = Metric::plain("disk_read_kb", "KiB", "disk: read");
    DISK_WRITTEN_KB = Metric::plain("disk_written_kb", "KiB", "disk: written");
    DISK_READ_MEAN_MS = Metric::plain("disk_read_mean_ms", "ms", "disk: mean read latency");
    DISK_WRITE_MEAN_MS = Metric::plain("disk_write_mean_ms", "ms", "disk: mean write latency");
    DISK_READ_P50_MS = Metric::plain("disk_read_p50_ms", "ms", "disk: median read latency");
    DISK_READ_P95_MS = Metric::plain("disk_read_p95_ms", "ms", "disk: read latency p95");
    DISK_READ_P99_MS = Metric::plain("disk_read_p99_ms", "ms", "disk: read latency p99");
    DISK_READ_MAX_MS = Metric::plain("disk_read_max_ms", "ms", "disk: longest read latency");
    DISK_WRITE_P50_MS = Metric::plain("disk_write_p50_ms", "ms", "disk: median write latency");
    DISK_WRITE_P95_MS = Metric::plain("disk_write_p95_ms", "ms", "disk: write latency p95");
    DISK_WRITE_P99_MS = Metric::plain("disk_write_p99_ms", "ms", "disk: write latency p99");
    DISK_WRITE_MAX_MS = Metric::plain("disk_write_max_ms", "ms", "disk: longest write latency");
    DISK_LATE_PCT = Metric::plain("disk_late_pct", "%", "disk: served later than the model's time");
}

/// The metrics of how long requests of one kind take.
pub struct LatencyMetrics {
    pub mean: &'static Metric,
    p50: &'static Metric,
    p95: &'static Metric,
    p99: &'static Metric,
    max: &'static Metric,
}

pub static READ: LatencyMetrics = LatencyMetrics {
    mean: &DISK_READ_MEAN_MS,
    p50: &DISK_READ_P50_MS,
    p95: &DISK_READ_P95_MS,
    p99: &DISK_READ_P99_MS,
    max: &DISK_READ_MAX_MS,
};

pub static WRITE: LatencyMetrics = LatencyMetrics {
    mean: &DISK_WRITE_MEAN_MS,
    p50: &DISK_WRITE_P50_MS,
    p95: &DISK_WRITE_P95_MS,
    p99: &DISK_WRITE_P99_MS,
    max: &DISK_WRITE_MAX_MS,
};

impl LatencyMetrics {
    /// The percentiles of `latency` by their metrics.
    pub fn percentiles(&self, latency: Latency) -> Metrics {
        let Latency { p50_ns, p95_ns, p99_ns, max_ns } = latency;
        let numbers =
            [(self.p50, p50_ns), (self.p95, p95_ns), (self.p99, p99_ns), (self.max, max_ns)];
        numbers.map(|(metric, ns)| (metric, number(ns) / 1e6)).into()
    }
}

/// Converts a count or a time into the number of a metric.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub fn number(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_reads_and_writes_have_their_own_names() {
        let latency = Latency { p50_ns: 1, p95_ns: 2, p99_ns: 3, max_ns: 4_000_000 };
        for (metrics, kind) in [(&READ, "read"), (&WRITE, "write")] {
            let found = metrics.percentiles(latency);
            let names: Vec<_> = found.iter().map(|(name, _)| name.to_owned()).collect();
            let expected =
                ["max", "p50", "p95", "p99"].map(|what| format!("disk_{kind}_{what}_ms"));
            assert_eq!(names, expected);
            assert_eq!(found.get(metrics.max), Some(4.0));
            assert_eq!(metrics.mean.name(), format!("disk_{kind}_mean_ms"));
        }
    }
}
