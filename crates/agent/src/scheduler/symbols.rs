// SPDX-License-Identifier: GPL-2.0-only
//! Addresses of the kernel's own variables, of which its BTF says nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::{Mutex, PoisonError};

const SYMBOLS: &str = "/proc/kallsyms";

/// Of `symbol`; 0 if the kernel has none of that name or does not tell.
///
/// They stay where they are until the next boot, and there are so many that they are read only once.
pub fn address(symbol: &str) -> u64 {
    static KNOWN: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(symbol.to_owned()).or_insert_with(|| {
        File::open(SYMBOLS)
            .ok()
            .and_then(|file| find(BufReader::with_capacity(1 << 16, file), symbol))
            .unwrap_or(0)
    })
}

/// Lines are `address type name`, with `[module]` behind it if it is one's.
fn find(mut symbols: impl BufRead, wanted: &str) -> Option<u64> {
    let mut line = Vec::new();
    while symbols.read_until(b'\n', &mut line).ok()? > 0 {
        if line.trim_ascii_end().ends_with(wanted.as_bytes()) {
            let text = String::from_utf8_lossy(&line);
            let mut words = text.split_ascii_whitespace();
            if let (Some(address), Some(_), Some(name)) = (words.next(), words.next(), words.next())
                && name == wanted
            {
                return u64::from_str_radix(address, 16).ok();
            }
        }
        line.clear();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &str = "ffffffff81000000 T _text\nffffffff82a01234 D not__cpu_active_mask\n\
                        ffffffff82a0bcd0 D __cpu_active_mask\nffffffffc0000000 t of_module\t[loop]\n";

    #[test]
    fn a_symbol_is_found_by_its_whole_name() {
        assert_eq!(find(SOME.as_bytes(), "__cpu_active_mask"), Some(0xffff_ffff_82a0_bcd0));
        assert_eq!(find(SOME.as_bytes(), "cpu_active_mask"), None);
        assert_eq!(find(SOME.as_bytes(), "of_module"), None);
    }

    #[test]
    fn no_kernel_has_every_symbol() {
        assert_eq!(address("no_such_symbol_anywhere"), 0);
    }
}
