// SPDX-License-Identifier: GPL-2.0-only
//! Addresses of the kernel's own variables, which its BTF does not have.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::sync::{Mutex, PoisonError};

use libbpf_rs::{MapCore, MapFlags, ObjectBuilder, ProgramInput};

use crate::objects::LOOKUP;
use crate::sections::{holds, section_mut};

const SYMBOLS: &str = "/proc/kallsyms";

/// The address of `symbol`; 0 if the kernel does not have it or does not show it.
///
/// Symbols stay where they are until the next boot, so each is looked up only once.
pub fn address(symbol: &str) -> u64 {
    static KNOWN: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known
        .entry(symbol.to_owned())
        .or_insert_with(|| asked(symbol).unwrap_or_else(|| listed(symbol)))
}

/// The address that symbols/lookup.bpf.c finds; None if the kernel does not load it or it finds
/// nothing.
fn asked(symbol: &str) -> Option<u64> {
    let mut object = ObjectBuilder::default().name("lookup").ok()?.open_memory(LOOKUP).ok()?;
    let place = section_mut(&mut object, ".rodata", |name| {
        // The last byte stays zero.
        let fits = symbol.len() < name.len();
        fits.then(|| name[..symbol.len()].copy_from_slice(symbol.as_bytes()))
    });
    place.flatten()?;
    let object = object.load().ok()?;
    let answer = object.progs_mut().next()?.test_run(ProgramInput::default()).ok()?;
    let section = object.maps().find(|map| holds(map.name(), ".bss"))?;
    let address = section.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let address = u64::from_ne_bytes(address.get(..8)?.try_into().ok()?);
    (answer.return_value == 0 && address != 0).then_some(address)
}

/// The address in the list of all symbols. The kernel takes longer to write that list than to load
/// a scheduler.
fn listed(symbol: &str) -> u64 {
    File::open(SYMBOLS)
        .ok()
        .and_then(|file| find(BufReader::with_capacity(1 << 16, file), symbol))
        .unwrap_or(0)
}

/// Finds `wanted` in lines of `address type name`, with `[module]` at the end for a module's
/// symbol.
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
    fn lookup_and_list_give_the_same_address() {
        // Users get neither; the lab's tests run as root.
        let listed = listed("__cpu_active_mask");
        if nix::unistd::geteuid().is_root() && listed != 0 {
            assert_eq!(asked("__cpu_active_mask"), Some(listed));
        }
        assert_eq!(asked("no_such_symbol_anywhere"), None);
        assert_eq!(asked(&"x".repeat(1000)), None);
    }

    #[test]
    fn no_kernel_has_every_symbol() {
        assert_eq!(address("no_such_symbol_anywhere"), 0);
    }
}
