// SPDX-License-Identifier: GPL-2.0-only
//! A histogram of times as probes/include/histogram.h fills it, one part for each CPU.

use crate::real::real;

const SPLIT_BITS: u32 = 5;
const SPLIT: u64 = 1 << SPLIT_BITS;

#[derive(Debug, Default)]
pub struct Histogram {
    sum_ns: u64,
    max_ns: u64,
    buckets: Vec<u64>,
}

impl Histogram {
    /// Adds the part of one CPU: sum, longest, buckets.
    pub fn add(&mut self, words: &[u64]) {
        let [sum_ns, max_ns, buckets @ ..] = words else { return };
        self.sum_ns += sum_ns;
        self.max_ns = self.max_ns.max(*max_ns);
        self.buckets.resize(buckets.len(), 0);
        for (all, one) in self.buckets.iter_mut().zip(buckets) {
            *all += one;
        }
    }

    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Mean, percentiles and longest, each with the end of its metric's name; empty without a time.
    pub fn summary_us(&self) -> Vec<(&'static str, f64)> {
        let count = self.count();
        if count == 0 {
            return Vec::new();
        }
        let us = |ns: u64| real(ns) / 1e3;
        vec![
            ("mean_us", us(self.sum_ns) / real(count)),
            ("p50_us", us(self.percentile_ns(50))),
            ("p90_us", us(self.percentile_ns(90))),
            ("p99_us", us(self.percentile_ns(99))),
            ("max_us", us(self.max_ns)),
        ]
    }

    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The highest time that the bucket of the percentile's rank holds, at most the longest.
    pub fn percentile_ns(&self, percent: u64) -> u64 {
        let count = self.count();
        let rank = (count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let bucket = (0..).zip(&self.buckets).find(|(_, times)| {
            seen += *times;
            seen >= rank
        });
        bucket.map_or(self.max_ns, |(bucket, _)| highest_ns(bucket).min(self.max_ns))
    }
}

/// The highest time in a bucket.
fn highest_ns(bucket: u64) -> u64 {
    if bucket < SPLIT {
        return bucket;
    }
    let octave = (bucket >> SPLIT_BITS) - 1;
    let within = bucket & (SPLIT - 1);
    let end = u128::from(SPLIT + within + 1) << octave;
    u64::try_from(end - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BUCKETS: usize = (64 - SPLIT_BITS as usize + 1) << SPLIT_BITS;

    /// The bucket of a time, as the header computes it.
    fn bucket_of(ns: u64) -> u64 {
        if ns < SPLIT {
            return ns;
        }
        let octave = u64::from(ns.ilog2() - SPLIT_BITS);
        ((octave + 1) << SPLIT_BITS) + ((ns >> octave) & (SPLIT - 1))
    }

    fn place(bucket: u64) -> usize {
        usize::try_from(bucket).unwrap()
    }

    fn of(times: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for &ns in times {
            let mut words = vec![0; 2 + BUCKETS];
            (words[0], words[1], words[2 + place(bucket_of(ns))]) = (ns, ns, 1);
            histogram.add(&words);
        }
        histogram
    }

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(of(&[]).summary_us(), []);
    }

    #[test]
    fn parts_of_all_cpus_are_added() {
        let summary: Vec<_> = of(&[1000, 3000]).summary_us();
        assert_eq!(summary[0], ("mean_us", 2.0));
        assert_eq!(summary[4], ("max_us", 3.0));
        assert_eq!(of(&[1000, 3000]).count(), 2);
    }

    proptest! {
        #[test]
        fn a_percentile_is_at_most_a_32nd_too_high(mut times in proptest::collection::vec(0..1u64 << 40, 1..50)) {
            let histogram = of(&times);
            times.sort_unstable();
            for (percent, part) in [(50, 50), (90, 90), (99, 99)] {
                let exact = times[(times.len() * part).div_ceil(100) - 1];
                let found = histogram.percentile_ns(percent);
                prop_assert!(found >= exact && found <= exact + exact / SPLIT);
            }
        }

        #[test]
        fn every_time_has_a_bucket_that_holds_it(ns: u64) {
            let bucket = bucket_of(ns);
            prop_assert!(place(bucket) < BUCKETS);
            prop_assert!(ns <= highest_ns(bucket));
            prop_assert!(bucket == 0 || ns > highest_ns(bucket - 1));
        }
    }
}
