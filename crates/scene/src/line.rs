// SPDX-License-Identifier: GPL-2.0-only
//! The statements of a text: lines without comments, joined after a comma or colon.

use crate::mistake::Mistake;

#[derive(Debug, PartialEq, Eq)]
pub struct Statement {
    /// Where it begins, from 1 on.
    pub line: usize,
    /// With a line break where its lines were joined.
    pub text: String,
}

impl Statement {
    /// Makes a mistake in this statement of a sentence.
    pub fn mistake(&self) -> impl Fn(String) -> Mistake {
        let line = self.line;
        move |what| Mistake { line, what }
    }
}

/// Statements in order; a line that ends with a comma or colon is continued by the next one.
pub fn statements(text: &str) -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::new();
    let mut is_open = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        match all.last_mut() {
            Some(last) if is_open => {
                last.text.push('\n');
                last.text.push_str(line);
            }
            _ if line.is_empty() => continue,
            _ => all.push(Statement { line: number + 1, text: line.to_owned() }),
        }
        if !line.is_empty() {
            is_open = line.ends_with([',', ':']);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        statements(text).into_iter().map(|one| (one.line, one.text)).collect()
    }

    #[test]
    fn a_comma_at_the_end_goes_on_over_comments_and_empty_lines() {
        assert_eq!(
            found("# what\n\na: run 1, # first\n\n   # second\n  run 2\n  lock m # last"),
            [(3, "a: run 1,\n\n\nrun 2".to_owned()), (7, "lock m".to_owned())]
        );
        assert_eq!(found(" \n#"), []);
    }
}
