// SPDX-License-Identifier: GPL-2.0-only
//! Converts numbers from the units that programs print to the unit of a metric.

/// Units of one kind, each as a multiple of the smallest: whole numbers, so that their ratios are
/// exact.
const KINDS: [&[(&str, f64)]; 3] = [
    &[
        ("s", 1e9),
        ("sec", 1e9),
        ("secs", 1e9),
        ("second", 1e9),
        ("seconds", 1e9),
        ("ms", 1e6),
        ("msec", 1e6),
        ("msecs", 1e6),
        ("milliseconds", 1e6),
        ("us", 1e3),
        ("\u{b5}s", 1e3),
        ("\u{3bc}s", 1e3),
        ("usec", 1e3),
        ("usecs", 1e3),
        ("microseconds", 1e3),
        ("ns", 1.0),
        ("nsec", 1.0),
        ("nsecs", 1.0),
        ("nanoseconds", 1.0),
        ("m", 6e10),
        ("min", 6e10),
        ("h", 3.6e12),
    ],
    &[
        ("B", 1.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ],
    &[
        ("B/s", 1.0),
        ("kB/s", 1e3),
        ("KB/s", 1e3),
        ("MB/s", 1e6),
        ("GB/s", 1e9),
        ("TB/s", 1e12),
        ("KiB/s", 1024.0),
        ("MiB/s", 1_048_576.0),
        ("GiB/s", 1_073_741_824.0),
        ("TiB/s", 1_099_511_627_776.0),
    ],
];

/// Prefixes of counts: thousands and so on.
const PREFIXES: [(&str, f64); 5] = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];

/// Words that can mean something else when they follow a blank.
const AMBIGUOUS: [&str; 4] = ["m", "min", "h", "B"];

/// How many of the unit `wanted` one `printed` is; None if they cannot be converted.
pub fn factor(printed: &str, wanted: &str) -> Option<f64> {
    if printed == wanted {
        return Some(1.0);
    }
    for kind in KINDS {
        let size = |unit: &str| kind.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size);
        match (size(printed), size(wanted)) {
            (Some(printed), Some(wanted)) => return Some(printed / wanted),
            (None, None) => {}
            // A number without a unit, or of another kind.
            _ => return None,
        }
    }
    let prefix = |(name, size): &(&str, f64)| {
        printed
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest == wanted)
            .then_some(*size)
    };
    if printed.is_empty() { Some(1.0) } else { PREFIXES.iter().find_map(prefix) }
}

/// The unit that follows a number in `rest`, if there is one that is not `wanted`.
pub fn other_unit<'a>(rest: &'a str, wanted: &str) -> Option<&'a str> {
    let word = rest.strip_prefix(' ').unwrap_or(rest);
    let is_part = |letter: char| letter.is_alphabetic() || "/%".contains(letter);
    let end = word.find(|letter| !is_part(letter)).unwrap_or(word.len());
    let is_attached = word.len() == rest.len();
    // `ops/s` begins with a word, `s/op` with a unit: only whole words count.
    let word = &word[..end];
    let of_a_kind =
        |unit: &str| KINDS.iter().any(|kind| kind.iter().any(|(name, _)| *name == unit));
    let is_prefix = is_attached && PREFIXES.iter().any(|(name, _)| *name == word);
    let is_unit = of_a_kind(word) && (is_attached || !AMBIGUOUS.contains(&word));
    if word == wanted || !(is_unit || is_prefix) {
        return None;
    }
    // Two names of one unit, such as sec and s, are harmless; so is a unit of another kind than the
    // metric's.
    let is_same = factor(word, wanted).is_some_and(|factor| factor == 1.0);
    let is_comparable = is_prefix || of_a_kind(wanted);
    (!is_same && is_comparable).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_kind_become_each_other() {
        for (printed, wanted, expected) in [
            ("ms", "us", Some(1000.0)),
            ("us", "us", Some(1.0)),
            ("\u{b5}s", "ms", Some(1e-3)),
            ("s", "ms", Some(1000.0)),
            ("MiB/s", "MB/s", Some(1.048_576)),
            ("k", "1/s", Some(1000.0)),
            ("Mops", "ops", Some(1e6)),
            ("", "1/s", Some(1.0)),
            ("", "us", None),
            ("ms", "MB", None),
            ("apples", "us", None),
            ("x", "1/s", None),
        ] {
            assert_eq!(factor(printed, wanted), expected, "{printed} in {wanted}");
        }
    }

    #[test]
    fn a_unit_behind_the_number_that_is_not_the_metrics_is_found() {
        for (rest, wanted, expected) in [
            ("ms", "us", Some("ms")),
            (" msec total", "us", Some("msec")),
            ("us", "us", None),
            (" sec", "s", None),
            ("k\n", "1/s", Some("k")),
            (" k", "1/s", None),
            (" MiB/s", "MB/s", Some("MiB/s")),
            (" min 3", "us", None),
            ("min", "s", Some("min")),
            (" ms", "frames", None),
            (" max", "us", None),
            ("", "us", None),
            (" s/op", "us", None),
            ("%", "us", None),
        ] {
            assert_eq!(other_unit(rest, wanted), expected, "{rest:?} in {wanted}");
        }
    }
}
