// SPDX-License-Identifier: GPL-2.0-only
//! Checks of command lines, and their errors.

use std::fmt::{self, Display};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

/// The exit status of a command line that asks for what does not exist.
pub const EXIT: u8 = 64;

/// Longest time of a command line: longer than any sample, and short enough for every clock: 11
/// days.
const LONGEST_S: f64 = 1e6;

/// Something the command line asks for that no machine can do.
#[derive(Debug)]
pub struct Usage(pub String);

impl Display for Usage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Parses the command line of this process.
///
/// # Errors
/// The exit status after a usage error or help, which has been printed.
pub fn parse<Arguments: Parser>() -> Result<Arguments, ExitCode> {
    Arguments::try_parse().map_err(|error| {
        // It does not matter if nobody reads it.
        let _ = error.print();
        if error.use_stderr() { EXIT.into() } else { ExitCode::SUCCESS }
    })
}

/// Parses seconds of a command line, more than 0.
///
/// # Errors
/// A sentence about what they may be.
pub fn length(text: &str) -> Result<Duration, String> {
    match seconds(text) {
        Some(length) if !length.is_zero() => Ok(length),
        _ => Err(format!("it must be more than 0 and at most {LONGEST_S} seconds")),
    }
}

/// Parses seconds of a command line, which may be 0.
///
/// # Errors
/// A sentence about what they may be.
pub fn length_or_none(text: &str) -> Result<Duration, String> {
    seconds(text).ok_or_else(|| format!("it must be 0 to {LONGEST_S} seconds"))
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.parse().ok().filter(|&seconds: &f64| seconds <= LONGEST_S)?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_seconds() {
        assert_eq!(length("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(length("1000000"), Ok(Duration::from_secs(1_000_000)));
        assert_eq!(length_or_none("0"), Ok(Duration::ZERO));
        for nothing in ["0", "-0", "1e-12", "-1", "nan", "NaN", "inf", "1e20", "1e400", "", "1 s"] {
            assert!(length(nothing).is_err(), "{nothing}");
        }
    }
}
