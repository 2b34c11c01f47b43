// SPDX-License-Identifier: GPL-2.0-only
//! Numbers where a regular expression fits.

use protocol::Extract;
use regex::{Captures, Regex, RegexBuilder};

use crate::found::{Found, shorten};
use crate::{capture, quantity, units};

/// The group whose text is the number's unit.
const UNIT: &str = "unit";

/// Why `pattern` cannot catch a number, if so.
pub fn objection(pattern: &str) -> Option<String> {
    match compile(pattern) {
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

/// `^` and `$` are the begin and the end of a line.
fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).multi_line(true).build()
}

/// The first group that is not the unit.
fn group(regex: &Regex) -> Option<usize> {
    let mut groups = regex.capture_names().enumerate().skip(1);
    groups.find(|(_, name)| *name != Some(UNIT)).map(|(at, _)| at)
}

/// Finds all numbers; none if there is an objection to the pattern.
pub fn find(pattern: &str, extract: &Extract, text: &str) -> Vec<Found> {
    let Ok(regex) = compile(pattern) else { return Vec::new() };
    let Some(group) = group(&regex) else { return Vec::new() };
    let has_unit = regex.capture_names().any(|name| name == Some(UNIT));
    let found = |captures: Captures| {
        let number = captures.get(group)?;
        let unit = has_unit.then(|| captures.name(UNIT).map_or("", |unit| unit.as_str()));
        let caught = Caught { extract, output: text, start: number.start(), end: number.end() };
        Some(Found {
            number: caught.number(unit),
            text: caught.text().to_owned(),
            line: caught.line().to_owned(),
        })
    };
    regex.captures_iter(text).filter_map(found).collect()
}

/// The text of the number's group.
struct Caught<'a> {
    extract: &'a Extract,
    output: &'a str,
    start: usize,
    end: usize,
}

impl Caught<'_> {
    /// The number in the metric's unit. `unit` is what the group of this name caught, if there is one.
    fn number(&self, unit: Option<&str>) -> Result<f64, String> {
        let number = quantity::read(self.text(), self.extract)?;
        if !self.extract.separated
            && let Some(whole) = capture::find_whole(self.output, self.start..self.end)
        {
            return Err(format!(
                "cut out of {whole:?}: let the group catch all of it, or say separated = true"
            ));
        }
        Ok(number * self.factor(number, unit)?)
    }

    fn factor(&self, number: f64, unit: Option<&str>) -> Result<f64, String> {
        let wanted = &self.extract.unit;
        let rest = &self.output[self.end..];
        match unit {
            None => match units::other_unit(rest, wanted) {
                Some(unit) => Err(format!(
                    "in {unit} and not in {wanted:?}: a group named unit, such as (?<unit>[a-z]+), converts it"
                )),
                None => Ok(1.0),
            },
            // Zero is zero in any unit.
            Some("") if number == 0.0 => Ok(1.0),
            Some(unit) => units::factor(unit, wanted)
                .ok_or_else(|| format!("in {unit:?}, which cannot be converted to {wanted:?}")),
        }
    }

    fn text(&self) -> &str {
        &self.output[self.start..self.end]
    }

    fn line(&self) -> &str {
        let start = self.output[..self.start].rfind('\n').map_or(0, |at| at + 1);
        shorten(self.output[start..].lines().next().unwrap_or_default())
    }
}
