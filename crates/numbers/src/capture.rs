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
    let (first, last) = (*number.first()?, *number.last()?);
    if !is_cut_before(&before, &number) && !is_cut_behind(&before, &number, &after) {
        return None;
    }
    let start = if is_behind_days(&before) {
        text[..caught.start].rfind('\n').map_or(0, |at| at + 1)
    } else {
        caught.start - reach(first, text[..caught.start].chars().rev())
    };
    let end = caught.end + reach(last, text[caught.end..].chars());
    Some(text[start..end].trim())
}

/// The bytes of the letters beside a number that can be part of it; blanks only between digits.
fn reach(mut last: char, letters: impl Iterator<Item = char>) -> usize {
    let mut letters = letters.peekable();
    let mut length = 0;
    while let Some(letter) = letters.next() {
        let is_between = last.is_ascii_digit() && letters.peek().is_some_and(char::is_ascii_digit);
        let is_part = letter.is_alphanumeric()
            || SEPARATORS.contains(&letter)
            || "+-\u{2212}:".contains(letter)
            || letter == ' ' && is_between;
        if !is_part {
            break;
        }
        length += letter.len_utf8();
        last = letter;
    }
    length
}

fn count_digits(letters: &[char]) -> usize {
    letters.iter().take_while(|letter| letter.is_ascii_digit()).count()
}

/// Whether `before`, read backwards, ends in the first digits of a number that a blank separates from the next three.
fn ends_in_group(before: &[char]) -> bool {
    let digits = count_digits(before);
    (1..=3).contains(&digits)
        && before.get(digits).is_none_or(|it| !it.is_alphanumeric() && !".,:/-_".contains(*it))
}

/// Whether it is the rest of `1 day, 0:00:01`, as Python prints a time.
fn is_behind_days(before: &[char]) -> bool {
    let text: String = before.iter().rev().collect();
    text.ends_with(" day, ") || text.ends_with(" days, ")
}

/// Whether the word before is the begin of a number such as 0xa800.
fn is_hexadecimal(before: &[char]) -> bool {
    let word: String = before.iter().take_while(|it| it.is_alphanumeric()).collect();
    word.to_lowercase().ends_with("x0")
}

/// Whether `before`, read backwards, ends in the `e` of a number.
fn is_exponent(before: &[char]) -> bool {
    matches!(before, ['e' | 'E', digit, ..] if digit.is_ascii_digit() || *digit == '.')
}

fn is_digit(letter: Option<&char>) -> bool {
    letter.is_some_and(char::is_ascii_digit)
}

/// `before` is read backwards.
fn is_cut_before(before: &[char], number: &[char]) -> bool {
    let Some(&last) = before.first() else { return false };
    // What looks like a sign is a dash, or that of an exponent.
    if matches!(number.first(), Some('+' | '-')) {
        return last.is_alphanumeric();
    }
    if !is_digit(number.first()) && number.first() != Some(&'.') {
        return false;
    }
    if last.is_ascii_digit() || is_hexadecimal(before) {
        return true;
    }
    if "+-".contains(last) && is_exponent(&before[1..]) || is_exponent(before) {
        return true;
    }
    // A minus sign, not the dash of a range or a name.
    if "-\u{2212}".contains(last) {
        return !before.get(1).is_some_and(|letter| letter.is_alphanumeric() || *letter == '-');
    }
    if number.contains(&':') && is_behind_days(before) {
        return true;
    }
    if last == ' ' {
        return count_digits(number) == 3 && ends_in_group(&before[1..]);
    }
    if !is_digit(before.get(1)) {
        return false;
    }
    // 3m12.4s, PT3M12.4S, 0x1b20.
    if last.is_alphabetic() {
        return true;
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
        'x' | 'X' if number == ['0'] => second.is_some_and(char::is_ascii_hexdigit),
        // 3m12.4s, 1f3: all of it is one word.
        letter if letter.is_ascii_alphabetic() => is_digit(second),
        ' ' => {
            let backwards: Vec<_> = number.iter().rev().chain(before).copied().collect();
            count_digits(&after[1..]) == 3
                && count_digits(&backwards) >= count_digits(number)
                && ends_in_group(&backwards)
        }
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
            ("1e-{3}", "1e-3"),
            ("1e{-3}", "1e-3"),
            ("3{-5}", "3-5"),
            ("0x1b{20}", "0x1b20"),
            ("1.5E{3}", "1.5E3"),
            ("3m{12.4}s", "3m12.4s"),
            ("{3}m12.4s", "3m12.4s"),
            ("1:{02.5}", "1:02.5"),
            ("{1}:02.5", "1:02.5"),
            ("offset: -{5}", "-5"),
            ("-{5}", "-5"),
            ("v1.{2}", "v1.2"),
            ("rating 50 {003}/x", "50 003"),
            ("{50} 003/x", "50 003"),
            ("=1 234 {567}", "1 234 567"),
            ("\u{2212}{5}", "\u{2212}5"),
            ("PT3M{12.4}S", "PT3M12.4S"),
            ("{0}x1f", "0x1f"),
            ("{1}f3a", "1f3a"),
            ("1 day, {0:00:01.5}", "1 day, 0:00:01.5"),
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
            "p99 {120}",
            "cpu{0} 123",
            "1.5 {120}",
            "1234 {120}",
            "5 {12}",
        ] {
            assert_eq!(cut(text), None, "{text}");
        }
    }
}
