// SPDX-License-Identifier: GPL-2.0-only
//! Numbers where a regular expression fits.

use std::collections::BTreeMap;

use protocol::Extract;
use regex::{Captures, Regex, RegexBuilder};

use crate::found::{Found, shorten};
use crate::{capture, quantity, units};

/// The group whose text is the number's unit.
const UNIT: &str = "unit";
/// The group whose text is the number, where all groups have names.
const VALUE: &str = "value";

/// A pattern that can catch a number. `^` and `$` are the begin and the end of a line.
pub struct Pattern {
    regex: Regex,
    /// The first group without a name; or else the one named `value`, or the first that is not the unit.
    group: usize,
    has_unit: bool,
}

/// A number in a file.
pub struct Listed<'a> {
    pub found: Found,
    /// The number of its line, from 1.
    pub line: usize,
    /// What the other groups with names have caught.
    pub keys: BTreeMap<&'a str, &'a str>,
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
        let names = || regex.capture_names().enumerate().skip(1);
        let group = names()
            .find(|(_, name)| name.is_none())
            .or_else(|| names().find(|(_, name)| *name == Some(VALUE)))
            .or_else(|| names().find(|(_, name)| *name != Some(UNIT)))
            .map(|(at, _)| at);
        let group = group.ok_or("has no group for the number, such as ([0-9.]+)")?;
        let has_unit = regex.capture_names().any(|name| name == Some(UNIT));
        Ok(Self { regex, group, has_unit })
    }

    /// Finds all numbers.
    pub fn find(&self, extract: &Extract, text: &str) -> Vec<Found> {
        let matches = self.regex.captures_iter(text);
        matches.filter_map(|captures| self.read(extract, text, &captures)).collect()
    }

    fn read(&self, extract: &Extract, text: &str, captures: &Captures) -> Option<Found> {
        let number = captures.get(self.group)?;
        let unit = self.has_unit.then(|| captures.name(UNIT).map_or("", |unit| unit.as_str()));
        let caught = Caught { extract, output: text, start: number.start(), end: number.end() };
        Some(Found {
            number: caught.number(unit),
            text: caught.text().to_owned(),
            line: caught.line().to_owned(),
        })
    }

    /// The unit that the first number has; None if the pattern catches none.
    pub fn first_unit<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.regex.captures(text)?.name(UNIT).map(|unit| unit.as_str())
    }

    /// Finds all numbers, with their lines and what stands beside them.
    pub fn list<'a>(&'a self, extract: &Extract, text: &'a str) -> Vec<Listed<'a>> {
        let (mut line, mut counted) = (1, 0);
        let mut listed = Vec::new();
        for captures in self.regex.captures_iter(text) {
            let (Some(found), Some(number)) =
                (self.read(extract, text, &captures), captures.get(self.group))
            else {
                continue;
            };
            line += text[counted..number.start()].matches('\n').count();
            counted = number.start();
            listed.push(Listed { found, line, keys: self.keys(&captures) });
        }
        listed
    }

    fn keys<'a>(&'a self, captures: &Captures<'a>) -> BTreeMap<&'a str, &'a str> {
        let names = self.regex.capture_names().enumerate();
        let others = names.filter(|(at, name)| *at != self.group && *name != Some(UNIT));
        others
            .filter_map(|(at, name)| {
                Some((name?, captures.get(at).map_or("", |text| text.as_str())))
            })
            .collect()
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
