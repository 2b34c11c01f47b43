// SPDX-License-Identifier: GPL-2.0-only

use std::collections::BTreeMap;

use super::request::{Each, MapError, flags};
use super::value::ValueShape;
use crate::memory::{Heap, Window};

/// Values by their keys, in the order of the keys' bytes. One that makes room for new elements gives up what was not
/// used for the longest time; the kernel comes near to that.
#[derive(Debug)]
pub struct Hash {
    pub value: ValueShape,
    entries: u64,
    copies: u64,
    makes_room: bool,
    elements: BTreeMap<Box<[u8]>, Element>,
    /// Counts uses.
    clock: u64,
    /// Keys by their last use, if room is made.
    used: BTreeMap<u64, Box<[u8]>>,
}

#[derive(Debug)]
struct Element {
    address: u64,
    used: u64,
}

impl Hash {
    pub fn new(value: ValueShape, entries: u64, copies: u64, makes_room: bool) -> Self {
        Self {
            value,
            entries,
            copies,
            makes_room,
            elements: BTreeMap::new(),
            clock: 0,
            used: BTreeMap::new(),
        }
    }

    pub fn find(&mut self, key: &[u8], cpu: u64) -> Option<u64> {
        let element = self.elements.get_mut(key)?;
        if self.makes_room {
            self.clock += 1;
            let key = self.used.remove(&element.used).expect("all elements are there");
            element.used = self.clock;
            self.used.insert(self.clock, key);
        }
        copy(self.copies, &self.value, element.address, cpu)
    }

    /// Whether the element with this key has a value at an address, whatever CPU's it is.
    pub fn has(&self, key: &[u8], address: u64) -> bool {
        let element = self.elements.get(key);
        let bytes = self.value.stride() * self.copies;
        element.is_some_and(|element| (element.address..element.address + bytes).contains(&address))
    }

    pub fn update(
        &mut self,
        (key, value): (&[u8], &[u8]),
        flags: u64,
        cpu: u64,
        (heap, window): (&mut Heap, &mut Window),
    ) -> Result<Vec<u64>, MapError> {
        let is_there = self.elements.contains_key(key);
        match flags {
            flags::ONLY_NEW if is_there => return Err(MapError::There),
            flags::ONLY_OLD if !is_there => return Err(MapError::Missing),
            _ => {}
        }
        // A value of a CPU is changed where it is; others are replaced, so that a program that still has the old one
        // does not see it change.
        let mut ended = Vec::new();
        if !is_there {
            ended = self.add(key, (heap, window))?;
        } else if self.copies == 1 {
            let address = self.value.allocate(heap, window, 1).ok_or(MapError::NoMemory)?;
            let element = self.elements.get_mut(key).expect("it is there");
            let old = std::mem::replace(&mut element.address, address);
            self.value.retire(heap, old, 1);
            ended.push(old);
        }
        let address = self.find(key, cpu).ok_or(MapError::Invalid)?;
        self.value.copy(window, address, value);
        Ok(ended)
    }

    /// The element that an address is in, with the first of its values.
    pub fn element(&self, address: u64) -> Option<Each> {
        let found = self.elements.iter().find(|(key, _)| self.has(key, address));
        found.map(|(key, element)| (key.to_vec(), element.address))
    }

    fn add(
        &mut self,
        key: &[u8],
        (heap, window): (&mut Heap, &mut Window),
    ) -> Result<Vec<u64>, MapError> {
        let mut ended = Vec::new();
        if self.elements.len() as u64 >= self.entries {
            let oldest = self.used.first_key_value().map(|(_, key)| key.clone());
            let oldest = oldest.filter(|_| self.makes_room).ok_or(MapError::TooBig)?;
            ended = self.delete(&oldest, heap)?;
        }
        let address = self.value.allocate(heap, window, self.copies).ok_or(MapError::NoMemory)?;
        self.clock += 1;
        if self.makes_room {
            self.used.insert(self.clock, key.into());
        }
        self.elements.insert(key.into(), Element { address, used: self.clock });
        Ok(ended)
    }

    pub fn delete(&mut self, key: &[u8], heap: &mut Heap) -> Result<Vec<u64>, MapError> {
        let element = self.elements.remove(key).ok_or(MapError::Missing)?;
        self.used.remove(&element.used);
        self.value.retire(heap, element.address, self.copies);
        Ok((0..self.copies).map(|copy| element.address + copy * self.value.stride()).collect())
    }

    pub fn list(&self, cpu: u64) -> Vec<Each> {
        let elements = self.elements.iter();
        elements
            .filter_map(|(key, element)| {
                Some((key.to_vec(), copy(self.copies, &self.value, element.address, cpu)?))
            })
            .collect()
    }
}

/// The address of a CPU's copy.
fn copy(copies: u64, value: &ValueShape, address: u64, cpu: u64) -> Option<u64> {
    let copy = if copies == 1 { 0 } else { cpu };
    (copy < copies).then(|| address + copy * value.stride())
}
