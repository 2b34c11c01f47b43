// SPDX-License-Identifier: GPL-2.0-only
//! What does not change once an object is loaded: constants of the object, and options of the kernel's configuration.

use std::collections::BTreeMap;

/// Something with an address. Numbers are those of the object's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Data(usize),
    Outside(usize),
}

/// The bytes that are known of each place.
#[derive(Debug, Default)]
pub struct Memory(BTreeMap<Place, Vec<Option<u8>>>);

impl Memory {
    pub fn insert(&mut self, place: Place, bytes: Vec<Option<u8>>) {
        self.0.insert(place, bytes);
    }

    pub fn has(&self, place: Place) -> bool {
        self.0.contains_key(&place)
    }

    /// A number of up to eight bytes; None if one of them is not known.
    pub fn read(&self, place: Place, at: u64, width: usize) -> Option<u64> {
        let from = usize::try_from(at).ok()?;
        let bytes = self.0.get(&place)?.get(from..from.checked_add(width)?)?;
        bytes.iter().rev().try_fold(0, |number, &byte| Some(number << 8 | u64::from(byte?)))
    }
}
