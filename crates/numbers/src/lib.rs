// SPDX-License-Identifier: GPL-2.0-only
//! Reads numbers from what programs print. What may be another number than the one that was meant is refused, with the
//! line that it stands in.

mod capture;
mod found;
mod json;
mod listing;
mod output;
mod pattern;
mod quantity;
mod table;
mod units;

use std::fmt;

use protocol::{Extract, Find, Stream, Which};

use found::{Found, shorten};
use json::Query;
use pattern::Pattern;
use table::Column;

pub use listing::{Listed, list};
pub use output::{Output, Text};

/// How many places a message shows.
const SHOWN: usize = 3;

/// Why there is no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// One sentence.
    pub reason: String,
    /// The lines that explain it.
    pub detail: String,
}

/// Reads the number that `extract` describes.
///
/// # Errors
/// It is missing, is not a number, or may not be the one that was meant.
pub fn read(extract: &Extract, output: &Output) -> Result<f64, Objection> {
    let text = output.of(extract.stream);
    let finder = Finder::new(&extract.find).map_err(|why| {
        let reason = format!("the {} of metric {} {why}", name(&extract.find), extract.metric);
        Objection { reason, detail: String::new() }
    })?;
    let found = finder.find(extract, text);
    if found.is_empty() {
        return Err(refuse_missing(extract, output, &finder));
    }
    let number =
        |found: &Found| found.number.clone().map_err(|why| refuse(extract, found, &why, text));
    let numbers = || found.iter().map(number).collect::<Result<Vec<f64>, _>>();
    match extract.which {
        Which::First => number(&found[0]),
        Which::Last => number(&found[found.len() - 1]),
        Which::Sum => Ok(numbers()?.iter().sum()),
        Which::Mean => {
            let all = numbers()?;
            Ok(all.iter().sum::<f64>() / count(all.len()))
        }
        Which::Max => Ok(numbers()?.into_iter().fold(f64::NEG_INFINITY, f64::max)),
        Which::Min => Ok(numbers()?.into_iter().fold(f64::INFINITY, f64::min)),
        Which::Only => {
            let all = numbers()?;
            let is_same = all.iter().all(|each| each.total_cmp(&all[0]).is_eq());
            if is_same { Ok(all[0]) } else { Err(refuse_several(extract, &found)) }
        }
    }
}

/// Why a program's output can never have what `find` looks for, if so.
pub fn objection(find: &Find) -> Option<String> {
    Finder::new(find).err()
}

/// What finds numbers.
enum Finder {
    Pattern(Pattern),
    Json(Query),
    Csv(Column),
}

impl Finder {
    /// # Errors
    /// Why it can never find any.
    fn new(find: &Find) -> Result<Self, String> {
        Ok(match find {
            Find::Pattern(pattern) => Self::Pattern(Pattern::new(pattern)?),
            Find::Json(query) => Self::Json(Query::new(query)?),
            Find::Csv(column) => Self::Csv(Column::new(column)),
        })
    }

    fn find(&self, extract: &Extract, text: &Text) -> Vec<Found> {
        match self {
            Self::Pattern(pattern) => pattern.find(extract, &text.content),
            Self::Json(query) => query.find(extract, &text.content),
            Self::Csv(column) => column.find(extract, &text.content),
        }
    }
}

fn refuse(extract: &Extract, found: &Found, why: &str, text: &Text) -> Objection {
    let Found { text: caught, line, .. } = found;
    let reason = format!(
        "the output has {caught:?} for metric {}, {why}; the line is {line:?}",
        extract.metric
    );
    Objection { reason, detail: last_lines(&text.content) }
}

fn refuse_several(extract: &Extract, found: &[Found]) -> Objection {
    let more = if found.len() > SHOWN { ", ..." } else { "" };
    let shown: Vec<_> = found.iter().take(SHOWN).map(|each| format!("{:?}", each.line)).collect();
    let reason = format!(
        "the {} of metric {} fits {} places with other numbers ({}{more}): make it fit one{}, or say which = \"first\", \
         \"last\", \"sum\", \"mean\", \"max\" or \"min\"",
        name(&extract.find),
        extract.metric,
        found.len(),
        shown.join(", "),
        if matches!(extract.find, Find::Csv(_)) { ", name its row" } else { "" },
    );
    let lines: Vec<_> = found.iter().map(|each| each.line.as_str()).collect();
    Objection { reason, detail: last_lines(&lines.join("\n")) }
}

fn refuse_missing(extract: &Extract, output: &Output, finder: &Finder) -> Objection {
    let text = output.of(extract.stream);
    let end = match text.content.trim_end().lines().next_back() {
        None => "it is empty".to_owned(),
        Some(line) => format!("its last line is {:?}", shorten(line)),
    };
    let other = match extract.stream {
        Stream::Stdout => Stream::Stderr,
        Stream::Stderr => Stream::Stdout,
    };
    let is_there = !finder.find(extract, output.of(other)).is_empty();
    let advice = if is_there {
        format!("; {} has one: say stream = {:?}", Spoken(other), other.name())
    } else if text.is_cut {
        format!("; only its last {} MiB are searched", Output::LIMIT_BYTES >> 20)
    } else {
        String::new()
    };
    let reason = format!(
        "the output has no number for metric {} ({} {}{}): {} was read, {end}{advice}",
        extract.metric,
        name(&extract.find),
        sought(&extract.find),
        extract.row.as_ref().map_or(String::new(), |row| format!(" in the row {row}")),
        Spoken(extract.stream),
    );
    Objection { reason, detail: last_lines(&text.content) }
}

fn name(find: &Find) -> &'static str {
    match find {
        Find::Pattern(_) => "pattern",
        Find::Json(_) => "JSON query",
        Find::Csv(_) => "CSV column",
    }
}

fn sought(find: &Find) -> &str {
    match find {
        Find::Pattern(text) | Find::Json(text) | Find::Csv(text) => text,
    }
}

/// A stream in a sentence.
struct Spoken(Stream);

impl fmt::Display for Spoken {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self.0 {
            Stream::Stdout => "standard output",
            Stream::Stderr => "standard error",
        })
    }
}

fn last_lines(text: &str) -> String {
    const MOST: usize = 20;
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(MOST)..].join("\n")
}

#[expect(clippy::cast_precision_loss, reason = "an output has fewer numbers than 2^53")]
fn count(length: usize) -> f64 {
    length as f64
}
