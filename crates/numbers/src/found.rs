// SPDX-License-Identifier: GPL-2.0-only
//! What was found.

/// One number in the output.
pub struct Found {
    /// In the metric's unit; or why it cannot be that, the rest of a sentence that begins with its text.
    pub number: Result<f64, String>,
    pub text: String,
    /// Where it stands.
    pub line: String,
}

/// The begin of a line, for a message.
pub fn shorten(line: &str) -> &str {
    const MOST: usize = 120;
    line.char_indices().nth(MOST).map_or(line, |(at, _)| &line[..at]).trim()
}
