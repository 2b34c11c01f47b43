// SPDX-License-Identifier: GPL-2.0-only
//! Helpers that print.

use crate::format::format;
use crate::machine::{Arguments, Machine, World};
use crate::maps::MapError;
use crate::memory::length;

/// No text is longer.
const LONGEST: u64 = 1024;

/// As many arguments as a format may have (include/linux/bpf.h, `MAX_BPRINTF_VARARGS`).
const MOST: u64 = 12;

/// The text at an address, up to the 0 at its end.
fn text<W: World>(machine: &Machine<W>, address: u64, longest: u64) -> Option<Vec<u8>> {
    let bytes = (0..longest).map(|at| machine.window.read::<1>(address.wrapping_add(at)));
    let bytes = bytes.take_while(|byte| *byte != Ok([0]));
    bytes.map(|byte| byte.ok().map(|[byte]| byte)).collect()
}

/// Makes a text of a format and arguments; None if the kernel does not take the format.
pub fn make<W: World>(
    machine: &mut Machine<W>,
    (words, bytes): (u64, u64),
    arguments: &[u64],
) -> Option<Vec<u8>> {
    let words = text(machine, words, bytes.min(LONGEST))?;
    format(&words, arguments, &|address| text(machine, address, LONGEST)).ok()
}

/// Arguments that lie in memory, eight bytes each; None if there are too many, or not whole ones.
pub fn listed<W: World>(machine: &mut Machine<W>, at: u64, bytes: u64) -> Option<Vec<u64>> {
    if !bytes.is_multiple_of(8) || bytes > 8 * MOST {
        return None;
    }
    Some((0..bytes / 8).map(|each| machine.read(at.wrapping_add(8 * each))).collect())
}

fn print<W: World>(machine: &mut Machine<W>, made: Option<Vec<u8>>) -> u64 {
    let Some(made) = made else { return MapError::Invalid.code() };
    let line = String::from_utf8_lossy(&made);
    machine.printed.add(line.trim_end_matches('\n').to_owned());
    made.len() as u64
}

pub fn print_few<W: World>(machine: &mut Machine<W>, [words, bytes, few @ ..]: Arguments) -> u64 {
    let made = make(machine, (words, bytes & u64::from(u32::MAX)), &few);
    print(machine, made)
}

pub fn print_many<W: World>(
    machine: &mut Machine<W>,
    [words, bytes, at, length, _]: Arguments,
) -> u64 {
    let made = listed(machine, at, length & u64::from(u32::MAX));
    let made = made.and_then(|many| make(machine, (words, bytes & u64::from(u32::MAX)), &many));
    print(machine, made)
}

/// Writes a text into memory, as far as there is room; returns how long it is with the 0 at its end.
pub fn write<W: World>(machine: &mut Machine<W>, [to, room, words, at, bytes]: Arguments) -> u64 {
    let made = listed(machine, at, bytes & u64::from(u32::MAX));
    let made = made.and_then(|many| make(machine, (words, LONGEST), &many));
    let Some(mut made) = made else { return MapError::Invalid.code() };
    let whole = made.len() as u64 + 1;
    let room = room & u64::from(u32::MAX);
    if room > 0 {
        made.truncate(length(room - 1));
        made.push(0);
        machine.write(to, &made);
    }
    whole
}

/// Prints to a stream of the program: which one does not matter here.
pub fn print_to_stream<W: World>(
    machine: &mut Machine<W>,
    [_, words, at, bytes, _]: Arguments,
) -> u64 {
    let made = listed(machine, at, bytes & u64::from(u32::MAX));
    let made = made.and_then(|many| make(machine, (words, LONGEST), &many));
    match print(machine, made) {
        invalid if invalid == MapError::Invalid.code() => invalid,
        _ => 0,
    }
}
