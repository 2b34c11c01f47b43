// SPDX-License-Identifier: GPL-2.0-only
//! Mean and standard deviation of latencies, correct and as interbench 0.31 computes them.

use crate::figures::as_f64;
/// Sums of latencies in whole microseconds, as in interbench.
#[derive(Debug, Default)]
pub struct Latencies {
    count: u64,
    total_us: u64,
    squares: f64,
    pub max_us: u64,
}

impl Latencies {
    pub fn add(&mut self, us: u64) {
        self.count += 1;
        self.total_us += us;
        self.squares += as_f64(us).powi(2);
        self.max_us = self.max_us.max(us);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn mean_us(&self) -> f64 {
        if self.count == 0 { 0.0 } else { as_f64(self.total_us) / as_f64(self.count) }
    }

    /// Standard deviation of the sample.
    pub fn sd_us(&self) -> f64 {
        self.spread(self.mean_us().powi(2) * as_f64(self.count))
    }

    /// Standard deviation as interbench computes it: it subtracts the square of the mean once
    /// instead of n times, so the result is near the root of the mean square (show_latencies).
    pub fn sd_compat_us(&self) -> f64 {
        let mean = as_f64(self.total_us.checked_div(self.count).unwrap_or(0));
        self.spread(mean * mean / as_f64(self.count.max(1)))
    }

    fn spread(&self, less: f64) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        ((self.squares - less).max(0.0) / as_f64(self.count - 1)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_the_sample_and_the_old_one_is_too_large() {
        let mut latencies = Latencies::default();
        [2, 4, 4, 4, 5, 5, 7, 9].into_iter().for_each(|us| latencies.add(us));
        assert_eq!((latencies.count(), latencies.mean_us(), latencies.max_us), (8, 5.0, 9));
        assert_eq!(latencies.sd_us(), (32.0f64 / 7.0).sqrt());
        assert_eq!(latencies.sd_compat_us(), ((232.0f64 - 25.0 / 8.0) / 7.0).sqrt());
    }

    #[test]
    fn one_latency_has_no_deviation() {
        let mut latencies = Latencies::default();
        latencies.add(7);
        assert_eq!(
            (latencies.mean_us(), latencies.sd_us(), latencies.sd_compat_us()),
            (7.0, 0.0, 0.0)
        );
    }
}
