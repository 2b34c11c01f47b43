// SPDX-License-Identifier: GPL-2.0-only
//! What a disk has done, as a sample names it (docs/protocol.md).

use protocol::Metrics;

use super::account::Counts;
use super::latency::Latency;

impl Counts {
    pub fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::from([
            ("disk_requests".into(), number(self.requests)),
            ("disk_served".into(), number(self.served)),
            ("disk_busy_s".into(), number(self.busy_ns) / 1e9),
            ("disk_held_s".into(), number(self.held_ns) / 1e9),
            ("disk_read_kb".into(), number(self.sectors_read) / 2.0),
            ("disk_written_kb".into(), number(self.sectors_written) / 2.0),
            ("disk_late_pct".into(), 100.0 * number(self.late) / number(self.served.max(1))),
        ]);
        if let Some(dropped) = self.dropped {
            metrics.insert("requests_dropped".into(), number(dropped));
        }
        for (kind, latency) in [("read", self.read), ("write", self.write)] {
            metrics.extend(latency.into_iter().flat_map(|latency| of_latency(kind, latency)));
        }
        metrics
    }
}

/// The percentiles of requests of a `kind`, read or write.
pub fn of_latency(kind: &str, latency: Latency) -> Metrics {
    let Latency { p50_ns, p95_ns, p99_ns, max_ns } = latency;
    let named = [("p50", p50_ns), ("p95", p95_ns), ("p99", p99_ns), ("max", max_ns)];
    named.map(|(name, ns)| (format!("disk_{kind}_{name}_ms"), number(ns) / 1e6)).into()
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub fn number(value: u64) -> f64 {
    value as f64
}
