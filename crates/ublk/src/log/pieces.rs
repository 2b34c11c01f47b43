// SPDX-License-Identifier: GPL-2.0-only
//! Forwards a log of requests in pieces of whole lines, with times counted from the start of the
//! workload.

use std::io::{self, BufRead};

use anyhow::{Context, Result};

/// A piece is sent when it is as long as this.
const PIECE_BYTES: usize = 64 * 1024;
/// Columns 2 to 5 of a line are times (request_lines.rs).
const TIMES: usize = 4;

/// Passes all lines of `log` to `tell`; the first names the columns.
///
/// # Errors
/// A line cannot be read, or has no times.
pub fn forward(log: &mut impl BufRead, start_ns: u64, tell: &mut dyn FnMut(String)) -> Result<()> {
    let mut piece = String::new();
    let mut lines = log.lines();
    if let Some(header) = lines.next() {
        piece = header? + "\n";
    }
    for line in lines {
        piece += &since(&line?, start_ns)?;
        piece.push('\n');
        if piece.len() >= PIECE_BYTES {
            tell(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        tell(piece);
    }
    Ok(())
}

fn since(line: &str, start_ns: u64) -> Result<String> {
    let mut columns = line.splitn(2 + TIMES, '\t');
    let mut shifted = columns.next().unwrap_or_default().to_owned();
    for column in columns.by_ref().take(TIMES) {
        shifted.push('\t');
        if !column.is_empty() {
            let at: u64 = column.parse().with_context(|| format!("no time: {column:?}"))?;
            shifted += &at.wrapping_sub(start_ns).cast_signed().to_string();
        }
    }
    let rest = columns.next().with_context(|| io::Error::other(format!("cut short: {line:?}")))?;
    Ok(shifted + "\t" + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(log: &str) -> Result<Vec<String>> {
        let mut pieces = Vec::new();
        forward(&mut log.as_bytes(), 1000, &mut |piece| pieces.push(piece))?;
        Ok(pieces)
    }

    #[test]
    fn times_are_counted_from_the_start() {
        let pieces = forwarded("a\tb\nrequest\t900\t1000\t\t2500\tx\ty z\n").unwrap();
        assert_eq!(pieces, ["a\tb\nrequest\t-100\t0\t\t1500\tx\ty z\n"]);
    }

    #[test]
    fn a_long_log_comes_in_pieces_of_whole_lines() {
        let line = "request\t1000\t\t\t\tx\n";
        let pieces = forwarded(&format!("a\n{}", line.repeat(10_000))).unwrap();
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.ends_with('\n')));
        let all = pieces.concat();
        assert_eq!(all, format!("a\n{}", "request\t0\t\t\t\tx\n".repeat(10_000)));
    }

    #[test]
    fn a_line_that_is_cut_short_is_an_error() {
        assert!(forwarded("a\nrequest\t1000\t\n").is_err());
        assert!(forwarded("a\nrequest\tx\t\t\t\tx\n").is_err());
    }
}
