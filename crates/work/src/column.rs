// SPDX-License-Identifier: GPL-2.0-only
//! Percentiles of numbers that another program has left, for benchmarks that write every time down and sum none up.

use std::io::BufRead;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::percentiles::{P50, P90, P99, of_sorted};

/// Nearest ranks (`crate::percentiles`), in the unit of the numbers.
#[derive(Debug, PartialEq, Serialize)]
pub struct Figures {
    pub count: usize,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

/// Sums up the numbers in `lines`, one in each.
///
/// # Errors
/// There is no line, or something else than a number in one, which the error names.
pub fn sum_up(lines: impl BufRead) -> Result<Figures> {
    let numbers = lines.lines().zip(1..).map(|(line, number)| parse(&line?, number));
    let mut sorted = numbers.collect::<Result<Vec<f64>>>()?;
    sorted.sort_by(f64::total_cmp);
    ensure!(!sorted.is_empty(), "there is no number on standard input");
    let at = |per_mille| of_sorted(&sorted, per_mille).expect("there is a number");
    Ok(Figures { count: sorted.len(), p50: at(P50), p90: at(P90), p99: at(P99), max: at(1000) })
}

fn parse(line: &str, number: usize) -> Result<f64> {
    let found: f64 = line.trim().parse().with_context(|| format!("line {number}: {line:?}"))?;
    ensure!(found.is_finite(), "line {number}: {line:?} is not finite");
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_any_order_have_nearest_ranks() {
        let lines: String = (1..=200).rev().map(|number| format!("{number}.5\n")).collect();
        let found = sum_up(lines.as_bytes()).unwrap();
        assert_eq!(found, Figures { count: 200, p50: 100.5, p90: 180.5, p99: 198.5, max: 200.5 });
        let one = Figures { count: 1, p50: -3.0, p90: -3.0, p99: -3.0, max: -3.0 };
        assert_eq!(sum_up(" -3 ".as_bytes()).unwrap(), one);
    }

    #[test]
    fn what_is_not_a_number_is_named() {
        for (lines, words) in [
            ("", "no number"),
            ("1\n\n2\n", r#"line 2: """#),
            ("1\n2\n3 ms", r#"line 3: "3 ms""#),
            ("nan", "not finite"),
            ("1\ninf", "line 2"),
        ] {
            let error = format!("{:#}", sum_up(lines.as_bytes()).unwrap_err());
            assert!(error.contains(words), "{lines:?}: {error}");
        }
        assert!(sum_up(&b"1\n\xff\n"[..]).is_err());
    }
}
