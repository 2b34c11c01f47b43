// SPDX-License-Identifier: GPL-2.0-only
//! How long requests take from their arrival until they are done: histograms in memory of a fixed size.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Digits of precision: a bucket is at most a thousandth of its times wide.
const DIGITS: u8 = 3;
/// Longer times count as this long, except for the maximum, which is exact.
const HIGHEST_NS: u64 = 1_000_000_000_000;

/// Percentiles of how long one kind of request took.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    pub p50_ns: u64,
    pub p95_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}

impl Latency {
    /// Reads each percentile from a histogram.
    pub fn of(percentile_ns: impl Fn(u64) -> u64, max_ns: u64) -> Self {
        let [p50_ns, p95_ns, p99_ns] = [50, 95, 99].map(percentile_ns);
        Self { p50_ns, p95_ns, p99_ns, max_ns }
    }
}

#[derive(Debug)]
pub struct Latencies {
    times: Histogram<u64>,
    max_ns: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        let times = Histogram::new_with_bounds(1, HIGHEST_NS, DIGITS);
        Self { times: times.expect("the bounds are those of a histogram"), max_ns: 0 }
    }
}

impl Latencies {
    pub fn add(&mut self, ns: u64) {
        self.times.saturating_record(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// The percentiles; None without a time.
    pub fn summary(&self) -> Option<Latency> {
        let summary = Latency::of(|percent| self.percentile_ns(percent), self.max_ns);
        (!self.times.is_empty()).then_some(summary)
    }

    /// The highest time that the bucket of the percentile's rank holds, at most the longest.
    fn percentile_ns(&self, percent: u64) -> u64 {
        let rank = (self.times.len() * percent).div_ceil(100);
        let mut seen = 0;
        let mut recorded = self.times.iter_recorded();
        let bucket = recorded.find(|bucket| {
            seen += bucket.count_since_last_iteration();
            seen >= rank
        });
        bucket.map_or(self.max_ns, |bucket| bucket.value_iterated_to().min(self.max_ns))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_latency() {
        assert_eq!(Latencies::default().summary(), None);
    }

    #[test]
    fn the_longest_is_exact_even_beyond_the_histogram() {
        let mut latencies = Latencies::default();
        [5, 3 * HIGHEST_NS].into_iter().for_each(|ns| latencies.add(ns));
        let summary = latencies.summary().unwrap();
        assert_eq!((summary.p50_ns, summary.max_ns), (5, 3 * HIGHEST_NS));
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_sorted_times(mut times in prop::collection::vec(0..1_u64 << 38, 1..300)) {
            let mut latencies = Latencies::default();
            times.iter().for_each(|&ns| latencies.add(ns));
            times.sort_unstable();
            let found = latencies.summary().unwrap();
            prop_assert_eq!(found.max_ns, times[times.len() - 1]);
            for (percent, ns) in [(50, found.p50_ns), (95, found.p95_ns), (99, found.p99_ns)] {
                let exact = times[(times.len() * percent).div_ceil(100) - 1];
                prop_assert!(exact <= ns && ns <= exact + exact / 1000, "p{}: {} for {}", percent, ns, exact);
            }
        }
    }
}
