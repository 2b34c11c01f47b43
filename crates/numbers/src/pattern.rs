// SPDX-License-Identifier: GPL-2.0-only
//! Numbers where a regular expression fits.

use protocol::Extract;
use regex::{Captures, Regex, RegexBuilder};

use crate::found::{Found, shorten};
use crate::{capture, quantity, units};

/// The group whose text is the number's unit.
const UNIT: &str = "unit";

/// A pattern that can catch a number. `^` and `$` are the begin and the end of a line.
pub struct Pattern {
    regex: Regex,
    /// Its first group that is not the unit.
    group: usize,
    has_unit: bool,
}

impl Pattern {
    /// # Errors
    /// Why it cannot catch a number.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let regex = RegexBuilder::new(pattern).multi_line(true).build().map_err(|error| {
            let why = error.to_string();
            let last = why.lines().next_back().unwrap_or_default().trim_start_matches("error: ");
            format!("is not a regular expression of the regex crate: {last}")
        })?;
        let mut groups = regex.capture_names().enumerate().skip(1);
        let group = groups.find(|(_, name)| *name != Some(UNIT)).map(|(at, _)| at);
        let group = group.ok_or("has no group for the number, such as ([0-9.]+)")?;
        let has_unit = regex.capture_names().any(|name| name == Some(UNIT));
        Ok(Self { regex, group, has_unit })
    }

    /// Finds all numbers.
    pub fn find(&self, extract: &Extract, text: &str) -> Vec<Found> {
        let found = |captures: Captures| {
            let number = captures.get(self.group)?;
            let unit = self.has_unit.then(|| captures.name(UNIT).map_or("", |unit| unit.as_str()));
            let caught = Caught { extract, output: text, start: number.start(), end: number.end() };
            Some(Found {
                number: caught.number(unit),
                text: caught.text().to_owned(),
                line: caught.line().to_owned(),
            })
        };
        self.regex.captures_iter(text).filter_map(found).collect()
    }
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
