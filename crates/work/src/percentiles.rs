// SPDX-License-Identifier: GPL-2.0-only
//! Percentiles by nearest rank: the smallest value that at least this share of all values does not
//! exceed. They are values that occurred, never between two of them.

use hdrhistogram::Histogram;

/// The 5th percentile, in tenths of a percent like all of these.
pub const P5: u64 = 50;
pub const P50: u64 = 500;
pub const P90: u64 = 900;
pub const P99: u64 = 990;
pub const P999: u64 = 999;

/// A percentile of values in ascending order; `None` without values.
pub fn of_sorted(sorted: &[f64], per_mille: u64) -> Option<f64> {
    let rank = rank(u64::try_from(sorted.len()).ok()?, per_mille)?;
    sorted.get(usize::try_from(rank - 1).ok()?).copied()
}

/// A percentile from a histogram: the highest value of its bucket; 0 without values.
pub fn of_histogram(histogram: &Histogram<u64>, per_mille: u64) -> u64 {
    let Some(rank) = rank(histogram.len(), per_mille) else { return 0 };
    let mut seen = 0;
    let reached = histogram.iter_recorded().find(|step| {
        seen += step.count_since_last_iteration();
        seen >= rank
    });
    reached.map_or(0, |step| step.value_iterated_to())
}

/// The place of a percentile among `count` values, from 1 on.
fn rank(count: u64, per_mille: u64) -> Option<u64> {
    let rank = (u128::from(count) * u128::from(per_mille)).div_ceil(1000);
    (count > 0).then(|| u64::try_from(rank).unwrap_or(count).clamp(1, count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rank_is_the_first_that_enough_do_not_exceed() {
        let sorted: Vec<_> = (1..=40).map(f64::from).collect();
        let at = |per_mille| of_sorted(&sorted, per_mille);
        assert_eq!([at(0), at(P5), at(P50), at(P90)], [1.0, 2.0, 20.0, 36.0].map(Some));
        assert_eq!([at(P99), at(P999), at(1000)], [40.0, 40.0, 40.0].map(Some));
        assert_eq!(of_sorted(&sorted[..1], P99), Some(1.0));
        assert_eq!(of_sorted(&[], P99), None);
        assert_eq!(rank(u64::MAX, 1000), Some(u64::MAX));
    }

    #[test]
    fn nothing_has_no_percentile() -> Result<(), hdrhistogram::CreationError> {
        assert_eq!(of_histogram(&Histogram::new_with_bounds(1, 1000, 3)?, P99), 0);
        Ok(())
    }

    proptest! {
        /// Compares with the formulas that hogs, render and schbench used before.
        #[test]
        fn figures_stay_what_they_were(values in prop::collection::vec(1u64..4_000_000_000, 1..2000)) {
            let mut sorted: Vec<_> = values.iter().map(|&value| crate::figures::as_f64(value)).collect();
            sorted.sort_by(f64::total_cmp);
            let count = sorted.len();
            prop_assert_eq!(of_sorted(&sorted, P99), Some(sorted[(count * 99).div_ceil(100).clamp(1, count) - 1]));
            prop_assert_eq!(of_sorted(&sorted, P5), Some(sorted[count.div_ceil(20).saturating_sub(1)]));
            let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
            values.iter().for_each(|&value| histogram.saturating_record(value));
            for (per_mille, quantile) in [(P50, 0.5), (P90, 0.9), (P99, 0.99), (P999, 0.999)] {
                prop_assert_eq!(of_histogram(&histogram, per_mille), histogram.value_at_quantile(quantile));
            }
        }
    }
}
