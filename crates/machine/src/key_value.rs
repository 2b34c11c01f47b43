// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's files of one `key value` pair a line: /proc/meminfo, /proc/vmstat, cpu.stat.

use std::str::FromStr;

/// The number after `key`, which is the whole first word of its line, a colon included.
pub fn number<Number: FromStr>(text: &str, key: &str) -> Option<Number> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(key)).then(|| words.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_key_is_a_whole_word() {
        let text = "Dirty:     12 kB\npgpgin 5\npgpgin_more 6\n";
        assert_eq!(number(text, "Dirty:"), Some(12));
        assert_eq!(number(text, "pgpgin"), Some(5));
        assert_eq!(number::<u64>(text, "pgpg"), None);
        assert_eq!(number::<u64>("pgpgin x\n", "pgpgin"), None);
    }
}
