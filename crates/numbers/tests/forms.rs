// SPDX-License-Identifier: GPL-2.0-only
//! Numbers in the forms in which printf, Rust, Go, Python and Java tools print them, beside what stands around them: what
//! is read is the number that was printed, or nothing is. `PROPTEST_CASES` is how many are tried.

use numbers::{Output, Text, read};
use proptest::prelude::*;
use proptest::sample::select;
use protocol::{Extract, Find, Stream, Which};

/// A number as it is printed, and what it is in seconds or, where it is not a time, by itself.
#[derive(Debug, Clone)]
struct Printed {
    text: String,
    value: f64,
}

const TIMES: [(&str, f64); 12] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("\u{b5}s", 1e-6),
    ("ms", 1e-3),
    ("msec", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("seconds", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("minutes", 60.0),
    ("h", 3600.0),
];
const COUNTS: [(&str, f64); 8] = [
    ("", 1.0),
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("Mi", 1_048_576.0),
    (" million", 1e6),
    ("kops/s", 1e3),
];
const PATTERNS: [&str; 9] = [
    r"([0-9.]+)",
    r"([0-9]+)",
    r"(\S+)",
    r"([0-9.,]+)",
    r"([-+0-9.eE]+)",
    r"([0-9.]+)\s*(?<unit>[A-Za-z\u{b5}/%]*)",
    r"([0-9:.hms]+)",
    r"(-?\d+(?:\.\d+)?)$",
    r"time[:= ]*([0-9.]+)",
];

/// Digits with a separator between each three.
fn group(digits: &str, separator: &str) -> String {
    let first = (digits.len() + 2) % 3 + 1;
    let mut grouped = digits[..first].to_owned();
    for at in (first..digits.len()).step_by(3) {
        grouped += separator;
        grouped += &digits[at..at + 3];
    }
    grouped
}

/// Whole and decimal digits, whose value is that of the text.
fn plain() -> impl Strategy<Value = Printed> {
    (0_u64..10_000_000, 0_usize..5).prop_map(|(whole, decimals)| {
        let text = if decimals == 0 {
            format!("{whole}")
        } else {
            format!(
                "{}.{:0decimals$}",
                whole / 100,
                whole % 10_u64.pow(u32::try_from(decimals).unwrap())
            )
        };
        Printed { value: text.parse().unwrap(), text }
    })
}

fn number() -> impl Strategy<Value = Printed> {
    let signed = (plain(), select(vec![("", 1.0), ("-", -1.0), ("+", 1.0), ("\u{2212}", -1.0)]))
        .prop_map(|(Printed { text, value }, (sign, factor))| Printed {
            text: format!("{sign}{text}"),
            value: value * factor,
        });
    let exponent = (1_u32..10_000, -9_i32..9, any::<bool>(), any::<bool>()).prop_map(
        |(digits, exponent, is_upper, is_short)| {
            let mantissa = f64::from(digits) / 1000.0;
            let letter = if is_upper { 'E' } else { 'e' };
            let text = if is_short {
                format!("{mantissa}{letter}{exponent}")
            } else {
                format!("{mantissa:.3}{letter}{exponent:+03}")
            };
            Printed { value: text.parse().unwrap(), text }
        },
    );
    // A point between thousands, and nothing behind it, is a decimal point to any reader: it is not among these.
    let grouped = (
        1000_u64..100_000_000_000,
        select(vec![
            (",", "."),
            ("'", "."),
            ("_", "."),
            (" ", "."),
            ("\u{a0}", ","),
            ("\u{202f}", ","),
            (".", ","),
        ]),
        0_u32..100,
        any::<bool>(),
    )
        .prop_map(|(whole, (thousands, point), hundredths, has_point)| {
            let mut text = group(&whole.to_string(), thousands);
            let mut value = whole.to_string();
            if has_point || thousands == "." {
                text += &format!("{point}{hundredths:02}");
                value += &format!(".{hundredths:02}");
            }
            Printed { text, value: value.parse().unwrap() }
        });
    let comma = (0_u64..100_000, 0_u32..10).prop_map(|(whole, tenth)| Printed {
        text: format!("{whole},{tenth}"),
        value: format!("{whole}.{tenth}").parse().unwrap(),
    });
    let hex =
        (16_u32..100_000).prop_map(|it| Printed { text: format!("{it:#x}"), value: f64::from(it) });
    let padded = (plain(), 1_usize..14).prop_map(|(Printed { text, value }, width)| Printed {
        text: format!("{text:0>width$}"),
        value,
    });
    prop_oneof![4 => plain(), 2 => signed, 2 => exponent, 3 => grouped, 1 => comma, 1 => hex, 1 => padded]
}

/// A time in seconds, in units of one kind or of several.
fn time() -> impl Strategy<Value = Printed> {
    let with_unit = (number(), select(TIMES.to_vec()), select(vec!["", " ", "\t", " ["])).prop_map(
        |(Printed { text, value }, (unit, size), gap)| Printed {
            text: format!("{text}{gap}{unit}"),
            value: value * size,
        },
    );
    let parts = (0_u32..50, 0_u32..60, 0_u32..60, 0_u32..1000, 0_usize..6).prop_map(
        |(hours, minutes, seconds, thousandths, form)| {
            let rest =
                f64::from(minutes) * 60.0 + f64::from(seconds) + f64::from(thousandths) / 1000.0;
            let whole = rest + f64::from(hours) * 3600.0;
            let (text, value) = match form {
                0 => (format!("{minutes}m{seconds}.{thousandths:03}s"), rest),
                1 => (format!("{hours}h{minutes}m{seconds}.{thousandths:03}s"), whole),
                2 => (format!("{minutes}:{seconds:02}.{thousandths:03}"), rest),
                3 => (format!("{hours}:{minutes:02}:{seconds:02}.{thousandths:03}"), whole),
                4 => (format!("PT{minutes}M{seconds}.{thousandths:03}S"), rest),
                _ => (
                    format!("{} days, {}:{minutes:02}:{seconds:02}", hours / 24 + 1, hours % 24),
                    f64::from((hours / 24 + 1) * 24 + hours % 24) * 3600.0
                        + f64::from(minutes * 60 + seconds),
                ),
            };
            Printed { text, value }
        },
    );
    prop_oneof![3 => with_unit, 2 => parts]
}

fn count() -> impl Strategy<Value = Printed> {
    (number(), select(COUNTS.to_vec())).prop_map(|(Printed { text, value }, (unit, size))| {
        Printed { text: format!("{text}{unit}"), value: value * size }
    })
}

/// A line with the number in it, as a terminal or a file gets it.
fn line(printed: impl Strategy<Value = Printed>) -> impl Strategy<Value = (String, f64)> {
    let around = (
        select(vec![
            "",
            "time ",
            "time: ",
            "time=",
            "\"time\":",
            "  ",
            "time\t",
            "[",
            "\u{1b}[32mtime\u{1b}[0m ",
        ]),
        select(vec!["", ",", "]", " ", " ok", "\r", " (avg)", "\u{1b}[K", "; done", "}"]),
        any::<bool>(),
    );
    (printed, around).prop_map(|(Printed { text, value }, (before, behind, is_bold))| {
        // The first letter alone in bold, as some tools highlight a part.
        let split = text.char_indices().nth(1).map_or(text.len(), |(at, _)| at);
        let shown = if is_bold {
            format!("\u{1b}[1m{}\u{1b}[22m{}", &text[..split], &text[split..])
        } else {
            text
        };
        (format!("{before}{shown}{behind}\n"), value)
    })
}

fn extract(pattern: &str, unit: &str) -> Extract {
    Extract {
        metric: "m".into(),
        find: Find::Pattern(pattern.into()),
        unit: unit.into(),
        which: Which::Only,
        row: None,
        separated: false,
        thousands: None,
        stream: Stream::Stdout,
    }
}

fn read_line(line: &str, pattern: &str, unit: &str) -> Result<f64, String> {
    let output = Output { stdout: Text::new(line.as_bytes(), false), ..Output::default() };
    read(&extract(pattern, unit), &output).map_err(|objection| objection.reason)
}

fn is_same(read: f64, printed: f64) -> bool {
    (read - printed).abs() <= 1e-9 * printed.abs().max(f64::MIN_POSITIVE)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_time_is_read_right_or_not_at_all(
        (line, seconds) in line(time()), pattern in select(PATTERNS.to_vec()), unit in select(vec![("s", 1.0), ("ms", 1e-3), ("us", 1e-6)]),
    ) {
        if let Ok(read) = read_line(&line, pattern, unit.0) {
            prop_assert!(is_same(read * unit.1, seconds), "{line:?} is {seconds} s, read by {pattern} as {read} {}", unit.0);
        }
    }

    #[test]
    fn a_count_is_read_right_or_not_at_all((line, count) in line(count()), pattern in select(PATTERNS.to_vec())) {
        if let Ok(read) = read_line(&line, pattern, "ops/s") {
            prop_assert!(is_same(read, count), "{line:?} is {count}, read by {pattern} as {read}");
        }
    }

    #[test]
    fn a_plain_number_in_the_metrics_unit_is_read(printed in plain(), gap in select(vec!["", " "]), unit in select(vec!["s", "ms", "ops/s"])) {
        let line = format!("time: {}{gap}{unit}\n", printed.text);
        prop_assert_eq!(read_line(&line, r"time: ([0-9.]+)", unit), Ok(printed.value));
    }
}
