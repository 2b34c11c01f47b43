// SPDX-License-Identifier: GPL-2.0-only
//! Descriptions of metrics, and the numbers of a sample.
//!
//! A crate that measures something describes its metrics in a table, see
//! [`metric_table`](crate::metric_table). A number is added to [`Metrics`] by its description, so
//! that every name is described:
//!
//! ```compile_fail
//! protocol::Metrics::new().insert("elapsed_s", 1.0);
//! ```

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of two numbers of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Lower,
    Higher,
    /// Neither is better.
    None,
}

/// A metric as users see it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Metric {
    name: &'static str,
    unit: &'static str,
    direction: Direction,
    title: &'static str,
    headline: bool,
}

impl Metric {
    /// Describes a metric that does not judge arms. The unit of a count is empty.
    pub const fn plain(name: &'static str, unit: &'static str, title: &'static str) -> Self {
        Self { name, unit, direction: Direction::None, title, headline: false }
    }

    /// Describes a metric that judges arms if the workload has no such metric of its own.
    pub const fn headline(
        name: &'static str,
        unit: &'static str,
        direction: Direction,
        title: &'static str,
    ) -> Self {
        Self { name, unit, direction, title, headline: true }
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }
}

/// Defines metrics, each as a static of its own, and the table that has all of them in this order:
///
/// ```
/// use protocol::{Metric, Metrics, metric_table};
///
/// metric_table! {
///     /// What is measured of a ball.
///     BALL:
///     HEIGHT_M = Metric::plain("height_m", "m", "height of the ball");
///     BOUNCES = Metric::plain("bounces", "", "times that the ball touched the ground");
/// }
///
/// assert_eq!(BALL.len(), 2);
/// assert_eq!(Metrics::from([(&HEIGHT_M, 1.5)]).get(&HEIGHT_M), Some(1.5));
/// ```
#[macro_export]
macro_rules! metric_table {
    ($(#[$about:meta])* $table:ident: $($metric:ident = $description:expr;)+) => {
        $(pub static $metric: $crate::metrics::Metric = $description;)+

        $(#[$about])*
        pub static $table: &[&$crate::metrics::Metric] = &[$(&$metric),+];
    };
}

/// The numbers of a sample by the names of their metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the number of a metric that is described in a table.
    pub fn insert(&mut self, metric: &'static Metric, number: f64) {
        self.insert_named(metric.name.to_owned(), number);
    }

    /// Adds a number under a name of the workload or the load, which describe it themselves.
    pub fn insert_named(&mut self, name: String, number: f64) {
        self.0.insert(name, number);
    }

    /// Adds all `others`, which replace numbers of the same name.
    pub fn merge(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub fn get(&self, metric: &Metric) -> Option<f64> {
        self.0.get(metric.name).copied()
    }

    /// Names and numbers, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, number)| (name.as_str(), *number))
    }
}

impl<const N: usize> From<[(&'static Metric, f64); N]> for Metrics {
    fn from(numbers: [(&'static Metric, f64); N]) -> Self {
        numbers.into_iter().collect()
    }
}

impl FromIterator<(&'static Metric, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (&'static Metric, f64)>>(numbers: I) -> Self {
        let mut metrics = Self::new();
        metrics.extend(numbers);
        metrics
    }
}

impl Extend<(&'static Metric, f64)> for Metrics {
    fn extend<I: IntoIterator<Item = (&'static Metric, f64)>>(&mut self, numbers: I) {
        numbers.into_iter().for_each(|(metric, number)| self.insert(metric, number));
    }
}
