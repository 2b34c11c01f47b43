// SPDX-License-Identifier: GPL-2.0-only
//! Standard output, whose reader may have gone. A reader that does not read to the end is not an
//! error: the program ends with status 0 and prints nothing, as ripgrep does.

use std::fmt::{self, Display};
use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};
use serde::Serialize;

/// Nobody reads standard output any more.
#[derive(Debug)]
struct Unread;

impl Display for Unread {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("nobody reads the output")
    }
}

impl std::error::Error for Unread {}

/// Whether the only error is that nobody reads standard output; other pipes do not count.
pub fn is_unread(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
            .is_some_and(|inner| inner.is::<Unread>())
    })
}

/// Prints a line at once.
///
/// # Errors
/// The line cannot be written, or nobody reads it: `is_unread`.
pub fn line(text: impl Display) -> Result<()> {
    let mut out = Standard;
    writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Prints `value` as one line of JSON.
///
/// # Errors
/// The same as for `line`.
pub fn json(value: &impl Serialize) -> Result<()> {
    line(serde_json::to_string(value)?)
}

/// Prints `value` as JSON for people.
///
/// # Errors
/// The same as for `line`.
pub fn pretty_json(value: &impl Serialize) -> Result<()> {
    line(serde_json::to_string_pretty(value)?)
}

/// Standard output as a writer whose errors `is_unread` knows.
#[derive(Debug, Clone, Copy)]
pub struct Standard;

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes).map_err(told)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush().map_err(told)
    }
}

fn told(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::BrokenPipe => io::Error::new(ErrorKind::BrokenPipe, Unread),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_standard_output_is_unread() {
        let other = io::Error::from(ErrorKind::BrokenPipe);
        assert!(!is_unread(&anyhow::Error::new(other).context("the ring is broken")));
        let ours = told(ErrorKind::BrokenPipe.into());
        assert!(is_unread(&anyhow::Error::new(ours).context("cannot write")));
        let full = told(ErrorKind::StorageFull.into());
        assert!(!is_unread(&full.into()));
    }
}
