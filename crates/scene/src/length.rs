// SPDX-License-Identifier: GPL-2.0-only
//! Times and sizes as they are written.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The longest time of a step: an hour.
const LONGEST: Duration = Duration::from_hours(1);

/// How long a step lasts: a time that is drawn anew each time it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    pub least: Duration,
    pub most: Duration,
}

impl Length {
    /// The time for a number that was drawn from all of u64.
    pub fn draw(&self, number: u64) -> Duration {
        let span = u64::try_from((self.most - self.least).as_nanos()).unwrap_or(u64::MAX);
        self.least + Duration::from_nanos(number.checked_rem(span + 1).unwrap_or_default())
    }

    pub fn is_drawn(&self) -> bool {
        self.least < self.most
    }

    /// Parses `20`, `500us`, `1.5s`, and `20..60`: from the least to the most. Without a unit it is
    /// milliseconds.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((least, most)) = text.split_once("..") else {
            let length = parse_time(text)?;
            return Ok(Self { least: length, most: length });
        };
        let (_, unit) = split_unit(most);
        let least =
            if split_unit(least).1.is_empty() { format!("{least}{unit}") } else { least.into() };
        let (least, most) = (parse_time(&least)?, parse_time(most)?);
        if least > most {
            return Err(format!("{text} ends before it begins"));
        }
        Ok(Self { least, most })
    }
}

/// Parses one time.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, unit) = split_unit(text);
    let scale = match unit {
        "us" => 1e-6,
        "" | "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(format!("{text} is not a time: 20 or 20ms, 500us, 1.5s")),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * scale);
    let length = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match length {
        Some(length) if !length.is_zero() && length <= LONGEST => Ok(length),
        _ => Err(format!("{text:?} is not a time of more than 0 and at most an hour: 20ms, 1.5s")),
    }
}

fn split_unit(text: &str) -> (&str, &str) {
    let is_unit = |letter: char| letter.is_ascii_alphabetic();
    let number = text.trim_end_matches(is_unit);
    (number, &text[number.len()..])
}

/// Parses a whole number.
pub fn parse_count(text: &str, allowed: RangeInclusive<usize>) -> Result<usize, String> {
    let count = text.trim().parse().ok().filter(|count| allowed.contains(count));
    let (least, most) = (allowed.start(), allowed.end());
    count.ok_or_else(|| format!("{:?} is not a number from {least} to {most}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn times_have_units() {
        for (text, expected) in
            [("20", ms(20)), ("20ms", ms(20)), ("1.5s", ms(1500)), ("500us", ms(1) / 2)]
        {
            assert_eq!(parse_time(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "-1", "nan", "inf", "1e9", "3601s", "5 min", "5m", "s"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_range_is_drawn_from_end_to_end() {
        let length = Length::parse("20..60").unwrap();
        assert_eq!((length.least, length.most), (ms(20), ms(60)));
        assert_eq!(length.draw(0), ms(20));
        assert_eq!(length.draw(40_000_000), ms(60));
        assert_eq!(length.draw(40_000_001), ms(20));
        assert_eq!(Length::parse("1..2s").unwrap().least, ms(1000));
        assert_eq!(Length::parse("500us..2ms").unwrap().least, ms(1) / 2);
        assert_eq!(Length::parse("7").unwrap().draw(u64::MAX), ms(7));
        assert!(Length::parse("60..20").unwrap_err().contains("ends before it begins"));
        assert!(Length::parse("..20").is_err() && Length::parse("1..2..3").is_err());
    }
}
