// SPDX-License-Identifier: GPL-2.0-only
//! The limits that a watch has found: few enough, and short enough, to be read.

use std::collections::BTreeSet;

/// Limits that are named one by one.
const MOST: usize = 8;

/// Characters of one of them.
const LONGEST: usize = 160;

/// What a watch has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    limits: BTreeSet<String>,
    /// Why there may be more limits; empty if all groups were watched.
    pub unwatched: String,
}

impl Found {
    /// Nothing was watched, for this reason.
    pub fn unwatched(why: String) -> Self {
        Self { limits: BTreeSet::new(), unwatched: why }
    }

    /// Notes the `limits` of the group at `path`; those that come when there is no more room are
    /// not named.
    pub fn note(&mut self, path: &str, limits: &str) {
        let line: String = format!("{path}: {limits}").chars().take(LONGEST).collect();
        if self.limits.len() <= MOST {
            self.limits.insert(line);
        }
    }

    /// Notes the first reason why a limit may have gone unseen.
    pub fn miss(&mut self, why: impl FnOnce() -> String) {
        if self.unwatched.is_empty() {
            self.unwatched = why();
        }
    }

    /// One line for each group, sorted; `and more` at the end if there were more than are named.
    pub fn limits(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.limits.iter().take(MOST).cloned().collect();
        if self.limits.len() > MOST {
            lines.push("and more".to_owned());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_short_lines_are_sorted() {
        let mut found = Found::default();
        for path in ["/b", "/a", "/b"] {
            found.note(path, "cpu.max 1000 100000");
        }
        assert_eq!(found.limits(), ["/a: cpu.max 1000 100000", "/b: cpu.max 1000 100000"]);
        found.note(&"x".repeat(1000), "cpu.weight 1");
        assert_eq!(found.limits()[2].len(), LONGEST);
    }

    #[test]
    fn more_than_are_named_are_told() {
        let mut found = Found::default();
        (0..100).for_each(|group| found.note(&format!("/{group:02}"), "cpu.weight 1"));
        let limits = found.limits();
        assert_eq!(limits.len(), MOST + 1);
        assert_eq!((limits[0].as_str(), limits[MOST].as_str()), ("/00: cpu.weight 1", "and more"));
    }

    #[test]
    fn the_first_reason_counts() {
        let mut found = Found::default();
        found.miss(|| "there are too many".into());
        found.miss(|| "no room".into());
        assert_eq!(found.unwatched, "there are too many");
    }
}
