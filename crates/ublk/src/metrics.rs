// SPDX-License-Identifier: GPL-2.0-only
//! What a disk has done, as a sample names it (docs/protocol.md).

use block_queue::metrics::{number, of_latency};
use protocol::Metrics;

use crate::server::account::Counts;

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
