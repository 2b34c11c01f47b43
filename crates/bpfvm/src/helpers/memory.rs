// SPDX-License-Identifier: GPL-2.0-only

use crate::errno::{Errno, returned};
use crate::machine::{Arguments, Machine, Problem, World};
use crate::memory::length;

/// Sizes are numbers of 32 bits.
const SIZE: u64 = u32::MAX as u64;

/// Takes the lock in a value. Nothing else runs, so that only one that is held already is never free.
pub fn lock<W: World>(machine: &mut Machine<W>, [address, ..]: Arguments) -> u64 {
    if machine.lock != 0 {
        let held = machine.lock;
        machine.fail(Problem::Misuse(format!(
            "it takes the lock at {address:#x} and holds the one at {held:#x}"
        )));
    }
    machine.lock = address;
    0
}

pub fn unlock<W: World>(machine: &mut Machine<W>, [address, ..]: Arguments) -> u64 {
    if machine.lock != address {
        machine.fail(Problem::Misuse(format!("it releases the lock at {address:#x}, not held")));
    }
    machine.lock = 0;
    0
}

/// Copies memory that may not be there.
pub fn read<W: World>(machine: &mut Machine<W>, [to, bytes, from, ..]: Arguments) -> u64 {
    let mut read = vec![0; length((bytes & SIZE).min(MOST))];
    let code = match machine.window.read_into(from, &mut read) {
        Ok(()) => 0,
        Err(_) => returned(Errno::FAULT),
    };
    machine.write(to, &read);
    code
}

/// More than any program copies at once.
const MOST: u64 = 1 << 24;

/// Copies a text with the 0 at its end, as far as there is room; returns its length with that.
pub fn read_text<W: World>(machine: &mut Machine<W>, [to, bytes, from, ..]: Arguments) -> u64 {
    let room = (bytes & SIZE).min(MOST);
    let mut text = Vec::new();
    while (text.len() as u64) < room {
        let Ok([byte]) = machine.window.read(from.wrapping_add(text.len() as u64)) else {
            machine.write(to, &vec![0; length(room)]);
            return returned(Errno::FAULT);
        };
        text.push(byte);
        if byte == 0 {
            break;
        }
    }
    if let Some(last) = text.last_mut() {
        *last = 0;
    }
    machine.write(to, &text);
    text.len() as u64
}

/// Compares a text of a length with one that ends with 0.
pub fn compare<W: World>(machine: &mut Machine<W>, [one, bytes, two, ..]: Arguments) -> u64 {
    for at in 0..bytes & SIZE {
        let [left, right] = [one, two].map(|text| machine.window.read::<1>(text.wrapping_add(at)));
        match (left, right) {
            (Ok([left]), Ok([right])) if left == right && left != 0 => {}
            (Ok([left]), Ok([right])) => {
                return (i64::from(left) - i64::from(right)).cast_unsigned();
            }
            (Err(not_there), _) | (_, Err(not_there)) => {
                machine.fail(not_there);
                return 0;
            }
        }
    }
    0
}

/// Puts a pointer into a value and returns the one that was there.
pub fn exchange<W: World>(machine: &mut Machine<W>, [at, pointer, ..]: Arguments) -> u64 {
    let before = machine.read(at);
    machine.write(at, &pointer.to_le_bytes());
    before
}
