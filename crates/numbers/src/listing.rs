// SPDX-License-Identifier: GPL-2.0-only
//! Every number that a pattern finds in a file, for those who read files that no workload has printed.

use std::collections::BTreeMap;

use protocol::{Extract, Find, Stream, Which};
use serde::Serialize;

use crate::output::Text;
use crate::pattern::Pattern;

/// A number of a file.
#[derive(Debug, PartialEq, Serialize)]
pub struct Listed {
    pub value: f64,
    pub unit: String,
    /// The number of its line, from 1.
    pub line: usize,
    /// What the named groups of the pattern have caught beside it.
    pub keys: BTreeMap<String, String>,
}

/// Lists the numbers of a file in its order, in `unit` or else in the unit that the first one has.
///
/// # Errors
/// A sentence: the pattern can find none, or has found what may be another number than was meant.
pub fn list(
    pattern: &str,
    unit: Option<&str>,
    thousands: Option<char>,
    raw: &[u8],
) -> Result<Vec<Listed>, String> {
    let finder = Pattern::new(pattern).map_err(|why| format!("the pattern {why}"))?;
    let text = Text::new(raw, false);
    let unit = unit.or_else(|| finder.first_unit(&text.content)).unwrap_or_default().to_owned();
    let extract = Extract {
        metric: String::new(),
        find: Find::Pattern(pattern.to_owned()),
        unit: unit.clone(),
        which: Which::Only,
        row: None,
        separated: false,
        thousands,
        stream: Stream::Stdout,
    };
    let read = |listed: crate::pattern::Listed| {
        let value = listed
            .found
            .number
            .map_err(|why| format!("line {} has {:?}, {why}", listed.line, listed.found.text))?;
        let keys = listed.keys.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        Ok(Listed { value, unit: unit.clone(), line: listed.line, keys: keys.collect() })
    };
    finder.list(&extract, &text.content).into_iter().map(read).collect()
}
