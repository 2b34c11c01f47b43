// SPDX-License-Identifier: GPL-2.0-only
//! The metrics of a disk that runoff serves (docs/protocol.md).

use block_queue::metrics::{
    DISK_BUSY_S, DISK_HELD_S, DISK_LATE_PCT, DISK_READ_KB, DISK_REQUESTS, DISK_SERVED,
    DISK_WRITTEN_KB, READ, WRITE, number,
};
use protocol::{Metric, Metrics, metric_table};

use crate::server::account::Counts;

metric_table! {
    /// Counts about the log of a disk's requests.
    METRICS:
    REQUESTS_DROPPED =
        Metric::plain("requests_dropped", "", "disk: requests that were too many for the log");
}

impl Counts {
    pub fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::from([
            (&DISK_REQUESTS, number(self.requests)),
            (&DISK_SERVED, number(self.served)),
            (&DISK_BUSY_S, number(self.busy_ns) / 1e9),
            (&DISK_HELD_S, number(self.held_ns) / 1e9),
            (&DISK_READ_KB, number(self.sectors_read) / 2.0),
            (&DISK_WRITTEN_KB, number(self.sectors_written) / 2.0),
            (&DISK_LATE_PCT, 100.0 * number(self.late) / number(self.served.max(1))),
        ]);
        metrics.extend(self.dropped.map(|dropped| (&REQUESTS_DROPPED, number(dropped))));
        for (kind, latency) in [(&READ, self.read), (&WRITE, self.write)] {
            latency.into_iter().for_each(|latency| metrics.merge(kind.percentiles(latency)));
        }
        metrics
    }
}
