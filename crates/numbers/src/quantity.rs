// SPDX-License-Identifier: GPL-2.0-only
//! A number as programs write it: with a unit, with separators of thousands, as hours, minutes and seconds.

use std::sync::LazyLock;

use protocol::Extract;
use regex::{Captures, Regex};

use crate::units;

/// 3m12.4s, 1h2m, 2h0m1.5s: as Go, Rust and bash print times.
static SPELLED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+(?:\.[0-9]+)?)s)?$"));
/// 1:02.5 and 1:02:03, as time(1) and Python print them. 1:02 may be minutes or hours.
static CLOCK: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:([0-9]+):)?([0-9]+):([0-9]{2}(?:\.[0-9]+)?)$"));
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("it is written here")
}

/// Reads `text`, which is a number and nothing else but a unit, in the metric's unit.
///
/// # Errors
/// It is something else; the rest of a sentence that begins with the text.
pub fn read(text: &str, extract: &Extract) -> Result<f64, String> {
    let text = text.trim();
    let plain = match extract.thousands {
        Some(separator) => without_thousands(text, separator),
        None => Some(text.to_owned()),
    };
    let read = plain.and_then(|plain| {
        read_time(&plain, &extract.unit).or_else(|| read_number(&plain, extract))
    });
    read.unwrap_or_else(|| Err(not_a_number(text).into()))
}

/// The number and its unit; None if it is not a number.
fn read_number(text: &str, extract: &Extract) -> Option<Result<f64, String>> {
    let end = NUMBER.find(text)?.end();
    let number: f64 = text[..end].parse().ok().filter(|number: &f64| number.is_finite())?;
    let unit = text[end..].trim_start();
    if unit.is_empty() {
        return Some(Ok(number));
    }
    if unit.starts_with(|letter: char| letter.is_ascii_digit() || ".,'_:".contains(letter)) {
        return None;
    }
    Some(match units::factor(unit, &extract.unit) {
        Some(factor) => Ok(number * factor),
        None => Err(format!("which cannot be converted to {:?}", extract.unit)),
    })
}

/// Hours, minutes and seconds in the unit of a time; None if it is something else.
fn read_time(text: &str, unit: &str) -> Option<Result<f64, String>> {
    let seconds = spelled_s(text).or_else(|| clock_s(text))?;
    Some(match units::factor("s", unit) {
        Some(factor) => Ok(seconds * factor),
        None => Err(format!("which cannot be converted to {unit:?}")),
    })
}

fn spelled_s(text: &str) -> Option<f64> {
    let found = SPELLED.captures(text)?;
    // One part alone is a number with a unit.
    let parts = (1..=3).filter(|at| found.get(*at).is_some()).count();
    (parts > 1).then(|| 3600.0 * part(&found, 1) + 60.0 * part(&found, 2) + part(&found, 3))
}

fn clock_s(text: &str) -> Option<f64> {
    let found = CLOCK.captures(text)?;
    let is_clear = found.get(1).is_some() || found[3].contains('.');
    is_clear.then(|| 3600.0 * part(&found, 1) + 60.0 * part(&found, 2) + part(&found, 3))
}

/// A part of a time; zero where it is not written.
fn part(found: &Captures, at: usize) -> f64 {
    found.get(at).map_or(0.0, |part| part.as_str().parse().unwrap_or(f64::NAN))
}

/// The number without `separator`; None if that stands elsewhere than before three digits.
fn without_thousands(text: &str, separator: char) -> Option<String> {
    let pattern = format!(
        r"^([+-]?[0-9]{{1,3}}(?:{0}[0-9]{{3}})*)([^0-9{0}].*)?$",
        regex::escape(&separator.to_string())
    );
    let found = Regex::new(&pattern).ok()?.captures(text)?;
    let rest = found.get(2).map_or("", |rest| rest.as_str());
    Some(format!("{}{rest}", found[1].replace(separator, "")))
}

fn not_a_number(text: &str) -> &'static str {
    let is_grouped =
        |letter: char| letter.is_ascii_digit() || ",.' \u{a0}\u{202f}_".contains(letter);
    if text.chars().all(is_grouped) && text.contains(|letter: char| letter.is_ascii_digit()) {
        "which may be more than one number: where its separators are of thousands, say thousands = \",\""
    } else if CLOCK.is_match(text) {
        "which may be hours and minutes, or minutes and seconds"
    } else {
        "which is not a number"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Find, Stream, Which};

    fn read_as(text: &str, unit: &str, thousands: Option<char>) -> Result<f64, String> {
        let extract = Extract {
            metric: "m".into(),
            find: Find::Pattern(String::new()),
            unit: unit.into(),
            which: Which::Only,
            row: None,
            separated: false,
            thousands,
            stream: Stream::Stdout,
        };
        read(text, &extract)
    }

    #[test]
    fn numbers_and_units() {
        for (text, unit, expected) in [
            ("12.5", "s", 12.5),
            (" 12.5 ", "", 12.5),
            ("-1e-05", "", -1e-05),
            ("+.5", "", 0.5),
            ("7.", "", 7.0),
            ("1.10ms", "us", 1100.0),
            ("900 us", "us", 900.0),
            ("1.5k", "ops/s", 1500.0),
            ("12%", "%", 12.0),
            ("3m12.4s", "s", 192.4),
            ("1h2m3s", "ms", 3_723_000.0),
            ("2m0s", "s", 120.0),
            ("1:02.5", "s", 62.5),
            ("0:00:01.25", "s", 1.25),
            ("1:02:03", "s", 3723.0),
        ] {
            let read = read_as(text, unit, None).unwrap();
            assert!((read - expected).abs() <= 1e-12 * expected.abs(), "{text}: {read}");
        }
    }

    #[test]
    fn what_can_be_two_numbers_is_none() {
        for text in [
            "12,345",
            "1,2",
            "5071,0",
            "1'000",
            "50 003",
            "1_000",
            "1.2.3",
            "1:02",
            "nan",
            "inf",
            "1e999",
            "",
            "-",
            "0x1f",
            "1.5apples",
            "1:02.5",
            "12-13",
            "1/2",
            "(5)",
            "1,234.5",
        ] {
            assert!(read_as(text, "MB", None).is_err(), "{text}");
        }
        assert!(read_as("1:02", "s", None).unwrap_err().contains("hours and minutes"));
        assert!(read_as("12,345", "s", None).unwrap_err().contains("thousands = \",\""));
    }

    #[test]
    fn separators_of_thousands_are_read_if_they_are_named() {
        for (text, expected) in [
            ("12,345", Some(12_345.0)),
            ("1,234,567.5 ms", Some(1_234_567.5)),
            ("999", Some(999.0)),
        ] {
            assert_eq!(read_as(text, "ms", Some(',')).ok(), expected, "{text}");
        }
        for text in ["5071,0", "12,34", "1234,567", ",123", "1,2345"] {
            assert!(read_as(text, "ms", Some(',')).is_err(), "{text}");
        }
        assert_eq!(read_as("50\u{202f}003", "", Some('\u{202f}')), Ok(50_003.0));
    }
}
