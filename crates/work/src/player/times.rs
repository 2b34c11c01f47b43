// SPDX-License-Identifier: GPL-2.0-only
//! Many times, in little room.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::figures::as_f64;
use crate::percentiles::{P99, of_histogram};

/// Significant digits of a percentile.
const DIGITS: u8 = 3;

/// How long something took, each time that it was done.
#[derive(Debug, Clone)]
pub struct Times {
    ns: Histogram<u64>,
    sum: Duration,
    longest: Duration,
    /// The longest that the end of the scene cut off: it would have been at least that long.
    cut_off: Duration,
}

impl Default for Times {
    fn default() -> Self {
        let ns = Histogram::new(DIGITS).expect("as many digits as a histogram can have");
        Self { ns, sum: Duration::ZERO, longest: Duration::ZERO, cut_off: Duration::ZERO }
    }
}

impl Times {
    pub fn add(&mut self, time: Duration) {
        self.count_ns(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), 1);
        self.sum += time;
        self.longest = self.longest.max(time);
    }

    fn count_ns(&mut self, ns: u64, count: u64) {
        self.ns.record_n(ns, count).expect("a histogram that grows");
    }

    pub fn add_cut_off(&mut self, time: Duration) {
        self.cut_off = self.cut_off.max(time);
    }

    pub fn merge(&mut self, others: &Self) {
        self.ns.add(&others.ns).expect("a histogram that grows");
        self.sum += others.sum;
        self.longest = self.longest.max(others.longest);
        self.cut_off = self.cut_off.max(others.cut_off);
    }

    pub fn count(&self) -> u64 {
        self.ns.len()
    }

    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// 0 if none has ended.
    pub fn mean(&self) -> Duration {
        match self.count() {
            0 => Duration::ZERO,
            count => Duration::from_secs_f64(self.sum.as_secs_f64() / as_f64(count)),
        }
    }

    /// The 99th percentile; if none has ended, what was cut off.
    pub fn p99(&self) -> Duration {
        match self.count() {
            0 => self.cut_off,
            // The highest value of its bucket is more than the longest.
            _ => Duration::from_nanos(of_histogram(&self.ns, P99)).min(self.longest),
        }
    }

    /// The mean; if none has ended, what was cut off.
    pub fn mean_or_cut_off(&self) -> Duration {
        if self.count() == 0 { self.cut_off } else { self.mean() }
    }
}

/// What one process hands to another.
#[derive(Serialize, Deserialize)]
struct Written {
    /// (ns, how often)
    counts: Vec<(u64, u64)>,
    sum: Duration,
    longest: Duration,
    cut_off: Duration,
}

impl Serialize for Times {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let steps = self.ns.iter_recorded();
        let counts = steps.map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        let Self { sum, longest, cut_off, .. } = *self;
        Written { counts, sum, longest, cut_off }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Written { counts, sum, longest, cut_off } = Written::deserialize(from)?;
        let mut times = Self { sum, longest, cut_off, ..Self::default() };
        counts.into_iter().for_each(|(ns, count)| times.count_ns(ns, count));
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    fn of(all_us: impl IntoIterator<Item = u64>) -> Times {
        let mut times = Times::default();
        all_us.into_iter().for_each(|one| times.add(us(one)));
        times
    }

    #[test]
    fn parts_that_were_handed_over_make_the_whole() {
        let mut merged = of(1..=500);
        let text = serde_json::to_string(&of(501..=1000)).unwrap();
        merged.merge(&serde_json::from_str(&text).unwrap());
        let whole = of(1..=1000);
        assert_eq!(
            (merged.count(), merged.p99(), merged.mean()),
            (1000, whole.p99(), whole.mean())
        );
        assert!(us(990) <= whole.p99() && whole.p99() < us(991), "{:?}", whole.p99());
        assert_eq!((merged.longest(), merged.mean()), (us(1000), us(1001) / 2));
    }

    #[test]
    fn what_was_cut_off_counts_only_where_nothing_has_ended() {
        let mut times = Times::default();
        assert_eq!((times.p99(), times.mean_or_cut_off()), (us(0), us(0)));
        times.add_cut_off(us(70));
        times.add_cut_off(us(30));
        assert_eq!((times.p99(), times.mean_or_cut_off(), times.mean()), (us(70), us(70), us(0)));
        times.add(us(3));
        assert_eq!((times.p99(), times.mean_or_cut_off()), (us(3), us(3)));
    }
}
