// SPDX-License-Identifier: GPL-2.0-only
//! Converts numbers from the units that programs print to the unit of a metric.

/// Units of one kind, each as a multiple of the smallest: whole numbers, so that their ratios are
/// exact.
const KINDS: [&[(&str, f64)]; 5] = [
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
        ("millisecond", 1e6),
        ("microsecond", 1e3),
        ("nanosecond", 1.0),
        ("m", 6e10),
        ("min", 6e10),
        ("mins", 6e10),
        ("minute", 6e10),
        ("minutes", 6e10),
        ("h", 3.6e12),
        ("hour", 3.6e12),
        ("hours", 3.6e12),
        ("day", 8.64e13),
        ("days", 8.64e13),
    ],
    &[
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("Kbit/s", 1e3),
        ("Mbit/s", 1e6),
        ("Gbit/s", 1e9),
        ("bits/sec", 1.0),
        ("Kbits/sec", 1e3),
        ("Mbits/sec", 1e6),
        ("Gbits/sec", 1e9),
        ("bps", 1.0),
        ("kbps", 1e3),
        ("Kbps", 1e3),
        ("Mbps", 1e6),
        ("Gbps", 1e9),
    ],
    &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)],
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
        ("B/sec", 1.0),
        ("kB/sec", 1e3),
        ("KB/sec", 1e3),
        ("MB/sec", 1e6),
        ("GB/sec", 1e9),
        ("KiB/sec", 1024.0),
        ("MiB/sec", 1_048_576.0),
        ("GiB/sec", 1_073_741_824.0),
    ],
];

/// Prefixes of counts: thousands and so on.
const PREFIXES: [(&str, f64); 12] = [
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("thousand", 1e3),
    ("million", 1e6),
    ("billion", 1e9),
];

const PERCENT: &str = "%";

/// How many of the unit `wanted` one `printed` is; None if they cannot be converted.
pub fn factor(printed: &str, wanted: &str) -> Option<f64> {
    if printed == wanted {
        return Some(1.0);
    }
    if let Some((printed, wanted)) = without_common_divisor(printed, wanted) {
        return factor(printed, wanted);
    }
    for kind in KINDS {
        match (size_in(kind, printed), size_in(kind, wanted)) {
            (Some(printed), Some(wanted)) => return Some(printed / wanted),
            (None, None) => {}
            // A number without a unit, or of another kind.
            _ => return None,
        }
    }
    if printed.is_empty() { Some(1.0) } else { prefix(printed, wanted) }
}

/// `ms` and `us` of `ms/op` and `us/op`; None where they are not both of something.
fn without_common_divisor<'a>(printed: &'a str, wanted: &'a str) -> Option<(&'a str, &'a str)> {
    let ((printed, of), (wanted, other)) = (printed.split_once('/')?, wanted.split_once('/')?);
    (of == other && is_unit(printed) && is_unit(wanted)).then_some((printed, wanted))
}

fn size_in(kind: &[(&str, f64)], unit: &str) -> Option<f64> {
    kind.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
}

fn is_unit(word: &str) -> bool {
    KINDS.iter().any(|kind| size_in(kind, word).is_some())
}

/// What `printed` multiplies the unit `wanted` by: the `k` of `12k` and of `12kops/s`.
fn prefix(printed: &str, wanted: &str) -> Option<f64> {
    let is_it = |name: &str| {
        printed.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest == wanted)
    };
    PREFIXES.iter().find(|(name, _)| is_it(name)).map(|(_, size)| *size)
}

/// The unit that follows a number in `rest`, if there is one that is not `wanted`.
pub fn other_unit<'a>(rest: &'a str, wanted: &str) -> Option<&'a str> {
    let begin = rest.trim_start_matches([' ', '\t', '\u{a0}', '\u{202f}', '(', '[']);
    let is_attached = begin.len() == rest.len();
    let is_part = |letter: char| letter.is_alphabetic() || "/%".contains(letter);
    let (word, behind) = begin.split_at(begin.find(|it| !is_part(it)).unwrap_or(begin.len()));
    if word == wanted || word.is_empty() {
        return None;
    }
    if word.starts_with(PERCENT) {
        return (!wanted.contains(PERCENT)).then_some(PERCENT);
    }
    // The minimum, with its value behind it.
    let is_label = word == "min"
        && !is_attached
        && behind.trim_start_matches([' ', ':', '=']).starts_with(|it: char| it.is_ascii_digit());
    let head = word.split_once('/').map_or(word, |(head, _)| head);
    if is_label || !(is_unit(word) || is_unit(head) || prefix(word, wanted).is_some()) {
        return None;
    }
    // Two names of one unit, such as sec and s, are harmless, and so is what it is a share of.
    let is_same = factor(word, wanted) == Some(1.0) || head == wanted;
    // `ms` where the unit is `ms/frame`.
    let is_named = wanted.split(|letter: char| !letter.is_alphabetic()).any(|it| it == word);
    (!is_same && !is_named).then_some(word)
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
            ("Mi", "ops", Some(1_048_576.0)),
            ("ms/op", "us/op", Some(1000.0)),
            ("ms/op", "us/frame", None),
            ("Gbits/sec", "Mbit/s", Some(1000.0)),
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
            (" k", "1/s", Some("k")),
            ("   ms", "us", Some("ms")),
            (" [ms]", "us", Some("ms")),
            (" Mops/s", "ops/s", Some("Mops/s")),
            (" ops/s", "ops/s", None),
            (" ops/s", "s", None),
            (" ns/op", "ns", None),
            (" us/op", "ns/op", Some("us/op")),
            (" minutes", "s", Some("minutes")),
            (" min", "s", Some("min")),
            ("us", "", Some("us")),
            (" ms", "ms/frame", None),
            ("%", "%", None),
            (" million", "ops", Some("million")),
            (" MiB/s", "MB/s", Some("MiB/s")),
            (" min 3", "us", None),
            ("min", "s", Some("min")),
            (" ms", "frames", Some("ms")),
            (" max", "us", None),
            ("", "us", None),
            (" s/op", "us", Some("s/op")),
            ("%", "us", Some("%")),
        ] {
            assert_eq!(other_unit(rest, wanted), expected, "{rest:?} in {wanted}");
        }
    }
}
