// SPDX-License-Identifier: GPL-2.0-only
//! How files of the kernel show a value, and what is written to change it.

use serde::{Deserialize, Serialize};

/// How a file has its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Written as it is read, but for blanks.
    Plain,
    /// All values that there are, the one in force in brackets or parentheses.
    Choice,
    /// Words, each with `NO_` before it while it is off; one is written at a time.
    Flags,
    /// `1` or `0`.
    Switch,
    /// `0` or `1`, where 1 switches off.
    Inverted,
    /// `on` or `off`, and other words where it cannot be switched.
    OnOff,
}

const ON: &str = "on";
const OFF: &str = "off";

impl Form {
    /// The form of a file in the kernel's debugfs, by its content.
    pub fn guess(name: &str, content: &str) -> Self {
        let has = |open, close| {
            content.split_once(open).is_some_and(|(_, rest): (&str, &str)| rest.contains(close))
        };
        if name == "features" {
            Self::Flags
        } else if has('(', ')') || has('[', ']') {
            Self::Choice
        } else {
            Self::Plain
        }
    }

    /// The value that `content` has: as an arm would name it, and as `to_write` takes it.
    pub fn value(self, content: &str) -> String {
        let words = content.split_whitespace().collect::<Vec<_>>().join(" ");
        match (self, words.as_str()) {
            (Self::Choice, words) => chosen(words).to_owned(),
            (Self::Switch, "1") | (Self::Inverted, "0") => ON.into(),
            (Self::Switch, "0") | (Self::Inverted, "1") => OFF.into(),
            _ => words,
        }
    }

    /// What is written, in turn, so that the file has `value`.
    pub fn to_write(self, value: &str) -> Vec<String> {
        match (self, value) {
            (Self::Flags, flags) => flags.split([',', ' ']).map(str::to_owned).collect(),
            (Self::Switch, ON) | (Self::Inverted, OFF) => vec!["1".into()],
            (Self::Switch, OFF) | (Self::Inverted, ON) => vec!["0".into()],
            (_, value) => vec![value.into()],
        }
    }

    /// The part of a file's `value` that `wanted` is about: all, but for flags.
    pub fn part<'a>(self, value: &'a str, wanted: &str) -> String {
        if self != Self::Flags {
            return value.into();
        }
        let bare = |flag: &'a str| flag.strip_prefix("NO_").unwrap_or(flag);
        let find = |flag: &str| {
            let flag = flag.strip_prefix("NO_").unwrap_or(flag);
            value.split(' ').find(|one| bare(one) == flag).map(str::to_owned)
        };
        wanted.split([',', ' ']).filter_map(find).collect::<Vec<_>>().join(",")
    }

    /// The values that a file with this content can have; empty if that is not known.
    pub fn offered(self, content: &str) -> Vec<String> {
        match self {
            Self::Plain => Vec::new(),
            Self::Switch | Self::Inverted | Self::OnOff => vec![ON.into(), OFF.into()],
            Self::Choice | Self::Flags => {
                let words = content.split_whitespace();
                words.map(|word| word.trim_matches(['(', ')', '[', ']']).to_owned()).collect()
            }
        }
    }
}

/// The word in brackets or parentheses, or all if there is none.
fn chosen(words: &str) -> &str {
    let within = |open, close| Some(words.split_once(open)?.1.split_once(close)?.0);
    within('[', ']').or_else(|| within('(', ')')).unwrap_or(words)
}

/// Whether two values are the same: as text, or as numbers.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || number(one).is_some_and(|number_of_one| Some(number_of_one) == number(other))
}

/// Whether the kernel made another number of the one that it was given.
pub fn is_rounded(wanted: &str, found: &str) -> bool {
    number(wanted).is_some() && number(found).is_some() && !is_same(wanted, found)
}

fn number(text: &str) -> Option<i128> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_an_arm_names_them() {
        assert_eq!(Form::Plain.value("4096\t87380\t6291456\n"), "4096 87380 6291456");
        assert_eq!(Form::Choice.value("always [madvise] never\n"), "madvise");
        assert_eq!(Form::Choice.value("none voluntary (full) lazy\n"), "full");
        assert_eq!(
            (Form::Switch.value("1\n"), Form::Switch.value("0")),
            ("on".into(), "off".into())
        );
        assert_eq!(Form::Inverted.value("1\n"), "off");
        assert_eq!(Form::OnOff.value("forceoff\n"), "forceoff");
    }

    #[test]
    fn what_is_written_is_read_as_the_same_value() {
        for form in [Form::Switch, Form::Inverted] {
            for value in ["on", "off"] {
                let written = form.to_write(value);
                assert_eq!((written.len(), form.value(&written[0]).as_str()), (1, value));
            }
        }
        assert_eq!(Form::OnOff.to_write("off"), ["off"]);
        assert_eq!(Form::Flags.to_write("A,NO_B C"), ["A", "NO_B", "C"]);
    }

    #[test]
    fn only_the_flags_that_were_asked_for_count() {
        let all = "PLACE_LAG NO_RUN_TO_PARITY DELAY";
        assert_eq!(Form::Flags.part(all, "RUN_TO_PARITY"), "NO_RUN_TO_PARITY");
        assert_eq!(Form::Flags.part(all, "NO_PLACE_LAG,DELAY"), "PLACE_LAG,DELAY");
        assert_eq!(Form::Flags.part(all, "UNKNOWN"), "");
        assert_eq!(Form::Plain.part("7 8", "9"), "7 8");
    }

    #[test]
    fn the_form_of_a_file_is_seen() {
        assert_eq!(Form::guess("preempt", "none (voluntary) full"), Form::Choice);
        assert_eq!(Form::guess("features", "A NO_B"), Form::Flags);
        assert_eq!(Form::guess("base_slice_ns", "2800000"), Form::Plain);
        assert_eq!(Form::Choice.offered("none (full)\n"), ["none", "full"]);
        assert_eq!(Form::Plain.offered("7"), [""; 0]);
    }

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        assert!(is_same("020", "20") && is_same("+20", "20") && !is_same("20", "21"));
        assert!(is_rounded("21", "20") && !is_rounded("20", "20") && !is_rounded("a", "b"));
    }
}
