// SPDX-License-Identifier: GPL-2.0-only
//! Numbers in the output of a command.

use std::collections::BTreeMap;

use protocol::{Extract, Metrics, Which, Workload};
use regex::{Captures, Regex};

use super::capture;
use super::refusal::{Refusal, last_lines};
use super::units;

/// The group whose text is the number's unit.
const UNIT: &str = "unit";

/// How many matches a message shows.
const SHOWN: usize = 3;

/// Reads the counters of a load: the numbers of the JSON object in its last line, if there is one.
pub fn read_counters(output: &str) -> Metrics {
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    let numbers: BTreeMap<String, f64> = serde_json::from_str(last).unwrap_or_default();
    let mut counters = Metrics::new();
    for (name, number) in numbers {
        counters.insert_named(format!("load_{name}"), number);
    }
    counters
}

/// Adds the metrics that `workload` is to print.
///
/// # Errors
/// A number is missing, is not a number, or may not be the one that was meant.
pub fn read(workload: &Workload, output: &str, metrics: &mut Metrics) -> Result<(), Refusal> {
    for extract in &workload.extract {
        metrics.insert_named(extract.metric.clone(), number(extract, output)?);
    }
    Ok(())
}

/// Requires numbers that JSON can write and statistics can use.
///
/// # Errors
/// A metric is not finite; the first one is named.
pub fn require_finite(metrics: &Metrics) -> Result<(), Refusal> {
    match metrics.iter().find(|(_, number)| !number.is_finite()) {
        Some((metric, number)) => {
            Err(Refusal::new(format!("the metric {metric} is {number}, which is not a number"), ""))
        }
        None => Ok(()),
    }
}

/// Why `pattern` cannot catch a number, if so.
pub fn objection(pattern: &str) -> Option<String> {
    match Regex::new(pattern) {
        Err(error) => {
            let why = error.to_string();
            let last = why.lines().next_back().unwrap_or_default().trim_start_matches("error: ");
            Some(format!("is not a regular expression of the regex crate: {last}"))
        }
        Ok(regex) if group(&regex).is_none() => {
            Some("has no group for the number, such as ([0-9.]+)".into())
        }
        Ok(_) => None,
    }
}

/// The first group that is not the unit.
fn group(regex: &Regex) -> Option<usize> {
    regex
        .capture_names()
        .enumerate()
        .skip(1)
        .find(|(_, name)| *name != Some(UNIT))
        .map(|(at, _)| at)
}

/// One match of a pattern.
struct Caught<'a> {
    extract: &'a Extract,
    output: &'a str,
    text: &'a str,
    start: usize,
    unit: Option<&'a str>,
    /// Whether the pattern has a group for the unit.
    has_unit: bool,
}

fn number(extract: &Extract, output: &str) -> Result<f64, Refusal> {
    let Extract { metric, pattern, .. } = extract;
    let regex = Regex::new(pattern).ok();
    let Some((regex, group)) = regex.and_then(|regex| group(&regex).map(|group| (regex, group)))
    else {
        let why = objection(pattern).unwrap_or_default();
        return Err(Refusal::new(format!("the pattern of metric {metric} {why}"), ""));
    };
    let has_unit = regex.capture_names().any(|name| name == Some(UNIT));
    let caught = |found: Captures<'_>| {
        let span = found.get(group)?;
        let unit = found.name(UNIT).map(|unit| &output[unit.range()]);
        let text = &output[span.range()];
        Some(Caught { extract, output, text, start: span.start(), unit, has_unit })
    };
    let all: Vec<Caught> = regex.captures_iter(output).filter_map(caught).collect();
    let (Some(first), Some(last)) = (all.first(), all.last()) else {
        let reason = format!("the output has no number for metric {metric} (pattern {pattern})");
        return Err(Refusal::new(reason, last_lines(output, 20)));
    };
    match extract.which {
        Some(Which::First) => first.number(),
        Some(Which::Last) => last.number(),
        Some(Which::Sum) => all.iter().map(Caught::number).sum(),
        None => agreed_number(&all),
    }
}

/// The number that all matches agree on.
fn agreed_number(all: &[Caught]) -> Result<f64, Refusal> {
    let numbers = all.iter().map(Caught::number).collect::<Result<Vec<f64>, _>>()?;
    if numbers.iter().all(|number| *number == numbers[0]) {
        return Ok(numbers[0]);
    }
    let metric = &all[0].extract.metric;
    let more = if all.len() > SHOWN { ", ..." } else { "" };
    let shown: Vec<_> =
        all.iter().take(SHOWN).map(|caught| format!("{:?}", caught.line())).collect();
    let reason = format!(
        "the pattern of metric {metric} fits {} places with other numbers ({}{more}): make it fit one, or say \
         which = \"first\", \"last\" or \"sum\"",
        all.len(),
        shown.join(", "),
    );
    let lines: Vec<_> = all.iter().map(Caught::line).collect();
    Err(Refusal::new(reason, last_lines(&lines.join("\n"), 20)))
}

impl Caught<'_> {
    /// The number that was caught, in the metric's unit.
    fn number(&self) -> Result<f64, Refusal> {
        let number: f64 = self.text.parse().map_err(|_| self.refuse("which is not a number"))?;
        if !number.is_finite() {
            return Err(self.refuse("which is not a number"));
        }
        let end = self.start + self.text.len();
        if !self.extract.separated
            && let Some(whole) = capture::find_whole(self.output, self.start..end)
        {
            return Err(self.refuse(&format!(
                "cut out of {whole:?}: let the pattern catch all of it, or say separated = true"
            )));
        }
        Ok(number * self.factor(number, &self.output[end..])?)
    }

    fn factor(&self, number: f64, rest: &str) -> Result<f64, Refusal> {
        let wanted = &self.extract.unit;
        if !self.has_unit {
            return match units::other_unit(rest, wanted) {
                Some(unit) => Err(self.refuse(&format!(
                    "in {unit} and not in {wanted:?}: a group named unit, such as (?<unit>[a-z]+), converts it"
                ))),
                None => Ok(1.0),
            };
        }
        let unit = self.unit.unwrap_or_default();
        match units::factor(unit, wanted) {
            Some(factor) => Ok(factor),
            // Zero is zero in any unit.
            None if number == 0.0 && unit.is_empty() => Ok(1.0),
            None => {
                Err(self.refuse(&format!("in {unit:?}, which cannot be converted to {wanted:?}")))
            }
        }
    }

    fn refuse(&self, why: &str) -> Refusal {
        let Extract { metric, .. } = self.extract;
        let reason = format!(
            "the output has {:?} for metric {metric}, {why}; the line is {:?}",
            self.text,
            self.line()
        );
        Refusal::new(reason, last_lines(self.output, 20))
    }

    fn line(&self) -> &str {
        const MOST: usize = 120;
        let start = self.output[..self.start].rfind('\n').map_or(0, |at| at + 1);
        let line = self.output[start..].lines().next().unwrap_or_default();
        line.char_indices().nth(MOST).map_or(line, |(at, _)| &line[..at]).trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extract(pattern: &str) -> Extract {
        Extract {
            metric: "time_s".into(),
            pattern: pattern.into(),
            unit: "s".into(),
            which: None,
            separated: false,
        }
    }

    fn read_one(pattern: &str, output: &str) -> Result<f64, String> {
        number(&extract(pattern), output).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn several_matches_that_agree_are_one() {
        assert_eq!(read_one(r"Time: ([0-9.]+)", "Time: 1.5\nTime: 1.50\n"), Ok(1.5));
    }

    #[test]
    fn matches_that_differ_need_a_choice() {
        let output = "a: 99.0th: 720\nb: 99.0th: 366020\n";
        let pattern = r"99\.0th: ([0-9]+)";
        let reason = read_one(pattern, output).unwrap_err();
        assert!(
            reason.contains("fits 2 places") && reason.contains("b: 99.0th: 366020"),
            "{reason}"
        );
        for (which, expected) in
            [(Which::First, 720.0), (Which::Last, 366_020.0), (Which::Sum, 366_740.0)]
        {
            let extract = Extract { which: Some(which), ..extract(pattern) };
            assert_eq!(number(&extract, output).ok(), Some(expected));
        }
    }

    #[test]
    fn a_piece_of_a_number_is_reported_with_its_line() {
        let output = "   12,345      context-switches\n";
        let reason = read_one(r"([0-9.]+)\s+context-switches", output).unwrap_err();
        let expected = "the output has \"345\" for metric time_s, cut out of \"12,345\"";
        assert!(
            reason.starts_with(expected) && reason.ends_with("\"12,345      context-switches\""),
            "{reason}"
        );
        let separated = Extract { separated: true, ..extract(r",([0-9]+)$") };
        assert_eq!(number(&separated, "3,345").ok(), Some(345.0));
    }

    #[test]
    fn units_are_converted_by_their_group_and_refused_without() {
        let seconds = r"Latency\s+([0-9.]+)(?P<unit>\w*)";
        assert_eq!(read_one(seconds, "Latency 900.00us"), Ok(900.0 * 1e-6));
        assert_eq!(read_one(seconds, "Latency 1.10ms"), Ok(1.1 * 1e-3));
        assert_eq!(read_one(seconds, "Latency 0"), Ok(0.0));
        assert!(
            read_one(seconds, "Latency 5")
                .unwrap_err()
                .contains("in \"\", which cannot be converted")
        );
        assert!(read_one(seconds, "Latency 5apples").unwrap_err().contains("in \"apples\""));
        let bare = r"Latency\s+([0-9.]+)";
        assert!(read_one(bare, "Latency 1.10ms").unwrap_err().contains("in ms and not in \"s\""));
        assert_eq!(read_one(bare, "Latency 1.10s"), Ok(1.1));
        assert_eq!(read_one(r"(?<unit>\w+)=([0-9.]+)", "ms=5"), Ok(5.0 * 1e-3));
    }

    #[test]
    fn output_without_the_number_names_metric_and_pattern() {
        let expected = "the output has no number for metric time_s (pattern Time: ([0-9.]+))";
        assert_eq!(read_one(r"Time: ([0-9.]+)", "nothing\n"), Err(expected.into()));
        let caught = "the output has \"5071,0\" for metric time_s, which is not a number; the line is \"Time: 5071,0\"";
        assert_eq!(read_one(r"Time: (\S+)", "Time: 5071,0\n"), Err(caught.into()));
    }

    #[test]
    fn text_that_is_not_a_number_is_reported_with_its_metric() {
        for text in ["nan", "NaN", "inf", "-inf", "infinity", "1e999"] {
            let expected =
                format!("the output has {text:?} for metric time_s, which is not a number");
            let reason = read_one(r"Time: (\S+)", &format!("Time: {text}\n")).unwrap_err();
            assert!(reason.starts_with(&expected), "{reason}");
        }
        let mut metrics = Metrics::new();
        for (name, number) in [("a", 1.0), ("b", f64::NAN)] {
            metrics.insert_named(name.into(), number);
        }
        let reason = require_finite(&metrics).map_err(|refusal| refusal.reason);
        assert_eq!(reason, Err("the metric b is NaN, which is not a number".into()));
    }

    #[test]
    fn a_pattern_that_cannot_catch_a_number_is_refused_before() {
        assert_eq!(objection("Time: ([0-9.]+)"), None);
        assert_eq!(objection(r"([0-9.]+)(?P<unit>\w+)"), None);
        for pattern in ["Time: [0-9.]+", "Time: (?:[0-9]+)", r"[0-9](?P<unit>\w+)"] {
            assert!(objection(pattern).unwrap().starts_with("has no group"), "{pattern}");
        }
        for pattern in ["^([0-9]+", "(?<=a)([0-9]+)", "[", "*"] {
            assert!(
                objection(pattern).unwrap().starts_with("is not a regular expression"),
                "{pattern}"
            );
        }
    }

    #[test]
    fn a_load_prints_its_counters_in_its_last_line() {
        let counters = read_counters("ready\n{\"passes\":2,\"units\":1.5}\n");
        let found: Vec<_> = counters.iter().collect();
        assert_eq!(found, [("load_passes", 2.0), ("load_units", 1.5)]);
        assert_eq!(read_counters("ready\nbye\n"), Metrics::new());
    }
}
