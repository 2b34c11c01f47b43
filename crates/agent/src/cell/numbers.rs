// SPDX-License-Identifier: GPL-2.0-only
//! The numbers that a command prints.

use std::collections::BTreeMap;

use protocol::{Extract, Workload};
use regex::Regex;
use ublk::Metrics;

use super::refusal::{Refusal, last_lines};

/// What a load has counted: the numbers of the JSON object in its last line, if that is one.
pub fn counted(output: &str) -> impl Iterator<Item = (String, f64)> {
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    let numbers: BTreeMap<String, f64> = serde_json::from_str(last).unwrap_or_default();
    numbers.into_iter().map(|(name, number)| (format!("load_{name}"), number))
}

/// Adds what `workload` promises to print.
///
/// # Errors
/// A number is missing or is none.
pub fn read(workload: &Workload, output: &str, metrics: &mut Metrics) -> Result<(), Refusal> {
    for extract in &workload.extract {
        metrics.insert(extract.metric.clone(), number(extract, output)?);
    }
    Ok(())
}

/// JSON has no word for what is no number, and no statistics has a place for it.
///
/// # Errors
/// The first metric that is not finite.
pub fn require_finite(metrics: &Metrics) -> Result<(), Refusal> {
    match metrics.iter().find(|(_, number)| !number.is_finite()) {
        Some((metric, number)) => {
            Err(Refusal::new(format!("the metric {metric} is {number}, which is no number"), ""))
        }
        None => Ok(()),
    }
}

fn number(extract: &Extract, output: &str) -> Result<f64, Refusal> {
    let Extract { metric, pattern } = extract;
    let regex = Regex::new(pattern).map_err(|error| {
        Refusal::new(
            format!("the pattern of metric {metric} is no regular expression"),
            error.to_string(),
        )
    })?;
    let missing = || {
        Refusal::new(
            format!("the output has no number for metric {metric} (pattern {pattern})"),
            last_lines(output, 20),
        )
    };
    let text = regex.captures_iter(output).last().and_then(|found| found.get(1));
    let text = text.ok_or_else(missing)?.as_str();
    let number: f64 = text.parse().map_err(|_| missing())?;
    if !number.is_finite() {
        let reason = format!("the output has {text:?} for metric {metric}, which is no number");
        return Err(Refusal::new(reason, last_lines(output, 20)));
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(pattern: &str, output: &str) -> Result<f64, String> {
        let extract = Extract { metric: "time_s".into(), pattern: pattern.into() };
        number(&extract, output).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn the_last_match_counts() {
        assert_eq!(read_one(r"Time: ([0-9.]+)", "Time: 1.5\nTime: 2.25\n"), Ok(2.25));
    }

    #[test]
    fn output_without_the_number_names_metric_and_pattern() {
        let expected = "the output has no number for metric time_s (pattern Time: ([0-9.]+))";
        assert_eq!(read_one(r"Time: ([0-9.]+)", "nothing\n"), Err(expected.into()));
        assert!(read_one(r"Time: (\w+)", "Time: fast\n").is_err());
    }

    #[test]
    fn what_is_no_number_is_told_with_its_metric() {
        for text in ["nan", "NaN", "inf", "-inf", "infinity", "1e999"] {
            let expected = format!("the output has {text:?} for metric time_s, which is no number");
            assert_eq!(read_one(r"Time: (\S+)", &format!("Time: {text}\n")), Err(expected));
        }
        let metrics = Metrics::from([("a".into(), 1.0), ("b".into(), f64::NAN)]);
        let reason = require_finite(&metrics).map_err(|refusal| refusal.reason);
        assert_eq!(reason, Err("the metric b is NaN, which is no number".into()));
    }

    #[test]
    fn a_load_tells_in_its_last_line_what_it_counted() {
        let found: Vec<_> = counted("ready\n{\"passes\":2,\"units\":1.5}\n").collect();
        assert_eq!(found, [("load_passes".into(), 2.0), ("load_units".into(), 1.5)]);
        assert_eq!(counted("ready\nbye\n").count(), 0);
    }
}
