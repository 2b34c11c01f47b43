// SPDX-License-Identifier: GPL-2.0-only
//! Tells whether a pattern caught a whole number or a piece of one.

use std::ops::Range;

/// Characters that are written between the digits of a number: points, commas, apostrophes,
/// underscores, blanks that do not break.
const SEPARATORS: [char; 8] = ['.', ',', '\'', '\u{2019}', '_', '\u{a0}', '\u{202f}', '\u{2009}'];

/// Finds the number or the time of day that `caught` was cut out of; None if `caught` is whole.
pub fn find_whole(text: &str, caught: Range<usize>) -> Option<&str> {
    let before: Vec<char> = text[..caught.start].chars().rev().take(24).collect();
    let after: Vec<char> = text[caught.end..].chars().take(24).collect();
    let number: Vec<char> = text[caught.clone()].chars().collect();
    if !is_cut_before(&before, &number, &after) && !is_cut_behind(&before, &number, &after) {
        return None;
    }
    let is_part = |letter: char| {
        letter.is_alphanumeric() || SEPARATORS.contains(&letter) || "+-:".contains(letter)
    };
    let start = text[..caught.start].rfind(|letter| !is_part(letter));
    let start = start.map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let end =
        text[caught.end..].find(|letter| !is_part(letter)).map_or(text.len(), |at| caught.end + at);
    Some(&text[start..end])
}

fn is_digit(letter: Option<&char>) -> bool {
    letter.is_some_and(char::is_ascii_digit)
}

/// `before` is read backwards.
fn is_cut_before(before: &[char], number: &[char], after: &[char]) -> bool {
    let Some(&last) = before.first() else { return false };
    if !is_digit(number.first()) && number.first() != Some(&'.') {
        return false;
    }
    if last.is_ascii_digit() {
        return true;
    }
    // A minus sign, not the dash of a range or a name.
    if last == '-' {
        return !before.get(1).is_some_and(|letter| letter.is_alphanumeric() || *letter == '-');
    }
    if !is_digit(before.get(1)) {
        return false;
    }
    // The `m` of 3m12.4s.
    if "hmd".contains(last) {
        return after.first().is_some_and(|unit| "hms".contains(*unit));
    }
    // In `cpu0:123` and `p99,120` the digits before belong to a name.
    let is_name = before[1..]
        .iter()
        .find(|letter| !letter.is_ascii_digit())
        .is_some_and(|letter| letter.is_alphabetic());
    match last {
        '.' => true,
        // The number before the comma has a point, so the comma separates numbers of a list.
        ',' if before[1..]
            .iter()
            .position(|letter| !letter.is_ascii_digit())
            .is_some_and(|it| it != 3 && before[1 + it] == '.') =>
        {
            false
        }
        ':' => !is_name && number.iter().take_while(|digit| digit.is_ascii_digit()).count() == 2,
        last => SEPARATORS.contains(&last) && !is_name,
    }
}

fn is_cut_behind(before: &[char], number: &[char], after: &[char]) -> bool {
    let Some(&first) = after.first() else { return false };
    let second = after.get(1);
    match first {
        first if first.is_ascii_digit() => true,
        'e' | 'E' => match second {
            Some('+' | '-') => is_digit(after.get(2)),
            second => is_digit(second),
        },
        'h' | 'm' => is_digit(second) && after.iter().any(|unit| "ms".contains(*unit)),
        ':' => {
            let is_name = before.first().is_some_and(|letter| letter.is_alphabetic());
            !is_name && is_digit(second) && is_digit(after.get(2))
        }
        // A number with a point is whole before a comma, as in a list.
        ',' if number.iter().rev().position(|&letter| letter == '.').is_some_and(|it| it != 3) => {
            false
        }
        first => SEPARATORS.contains(&first) && is_digit(second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `text` with the caught number between braces.
    fn cut(text: &str) -> Option<String> {
        let (start, end) = (text.find('{').unwrap(), text.find('}').unwrap() - 1);
        let plain = text.replace(['{', '}'], "");
        find_whole(&plain, start..end).map(str::to_owned)
    }

    #[test]
    fn a_piece_of_a_number_is_found_with_all_of_it() {
        for (text, expected) in [
            ("12,{345}   switches", "12,345"),
            ("{12},345 ms", "12,345"),
            ("{5071},0 MiB/s", "5071,0"),
            ("12'{345}", "12'345"),
            ("50\u{202f}{003}/x", "50\u{202f}003"),
            ("1.{5} ms", "1.5"),
            ("{1}.5 ms", "1.5"),
            ("12{5} ms", "125"),
            ("{12}5 ms", "125"),
            ("{1.2}e3 s", "1.2e3"),
            ("{1}e-3", "1e-3"),
            ("3m{12.4}s", "3m12.4s"),
            ("{3}m12.4s", "3m12.4s"),
            ("1:{02.5}", "1:02.5"),
            ("{1}:02.5", "1:02.5"),
            ("offset: -{5}", "-5"),
            ("-{5}", "-5"),
            ("v1.{2}", "v1.2"),
        ] {
            assert_eq!(cut(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_left_alone_whatever_stands_beside_them() {
        for text in [
            "{12345} ms",
            "{1.5}s",
            "time={1.5}",
            "cpu0:{123}",
            "p99:{120}",
            "p99,{120}",
            "99.0th: {720}",
            "{5}/10",
            "5/{10}",
            "[{1}, 2]",
            "{12}%",
            "{-5}",
            "3-{5}",
            "a-{5}",
            "{7}.",
            "{7}, 8",
            "x{7}",
            "{3}m",
            "\"a\":{99.5},\"b\":1",
            "Min: {5} Act: 7",
            "{1.2e3} s",
            "{+5}",
            "[{15.30},17.64]",
            "[15.30,{17.64}]",
            "[15.30,{17}]",
            "10:30 {5}",
            "{5} em",
            "{5}e",
        ] {
            assert_eq!(cut(text), None, "{text}");
        }
    }
}
