// SPDX-License-Identifier: GPL-2.0-only
//! How long each request of the borrowed disks takes: probes/disks.bpf.c.

use std::fs;

use block_queue::latency::Latency;
use block_queue::metrics::{LatencyMetrics, READ, WRITE};
use probes::AttachedProbe;
use protocol::Metrics;

/// Metrics in the order of the probe's histograms.
static KINDS: [&LatencyMetrics; 2] = [&READ, &WRITE];

pub struct Watch(AttachedProbe);

impl Watch {
    /// Watches `disks`, as /sys/block names them, from now on. None if there are none or the kernel
    /// does not take the probe: it has no BTF, or is older than Linux 6.5.
    pub fn start<'a>(disks: impl Iterator<Item = &'a str>) -> Option<Self> {
        let numbers: Vec<u64> = disks.filter_map(number).collect();
        let constants = [("disks", numbers.as_slice())];
        let probe = (!numbers.is_empty()).then(|| AttachedProbe::attach("disks", &constants));
        probe?.ok().map(Self)
    }

    /// Forgets what was counted before.
    pub fn begin(&self) {
        KINDS.iter().zip(0..).for_each(|(_, index)| self.0.clear(index));
    }

    /// Percentiles by name, the same ones as for a disk that is made for a sample
    /// (docs/protocol.md).
    pub fn metrics(&self) -> Metrics {
        let mut metrics = Metrics::new();
        for (kind, index) in KINDS.iter().zip(0..) {
            let Ok(times) = self.0.histogram(index) else { continue };
            if times.count() > 0 {
                let latency = Latency::of(|percent| times.percentile_ns(percent), times.max_ns());
                metrics.merge(kind.percentiles(latency));
            }
        }
        metrics
    }
}

/// The number of `disk` for the probe: the major number above 32 bits of the minor one.
fn number(disk: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/sys/block/{disk}/dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(major.parse::<u64>().ok()? << 32 | minor.parse::<u64>().ok()?)
}
