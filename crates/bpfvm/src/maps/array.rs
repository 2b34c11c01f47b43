// SPDX-License-Identifier: GPL-2.0-only

use super::request::{Each, MapError, flags};
use super::value::ValueShape;
use crate::memory::{Heap, Window};

/// Values by their numbers. All of them are there from the start; a map of CPUs has a copy of each for every CPU.
#[derive(Debug)]
pub struct Array {
    pub value: ValueShape,
    entries: u64,
    copies: u64,
    address: u64,
}

impl Array {
    pub fn new(
        value: ValueShape,
        entries: u64,
        copies: u64,
        (heap, window): (&mut Heap, &mut Window),
    ) -> Result<Self, MapError> {
        let all = entries.checked_mul(copies).ok_or(MapError::NoMemory)?;
        let address = value.allocate(heap, window, all).ok_or(MapError::NoMemory)?;
        Ok(Self { value, entries, copies, address })
    }

    pub fn find(&self, index: u64, cpu: u64) -> Option<u64> {
        let copy = if self.copies == 1 { 0 } else { cpu };
        (index < self.entries && copy < self.copies)
            .then(|| self.address + (index * self.copies + copy) * self.value.stride())
    }

    pub fn update(
        &self,
        (index, value): (u64, &[u8]),
        flags: u64,
        cpu: u64,
        window: &mut Window,
    ) -> Result<Vec<u64>, MapError> {
        let address = self.find(index, cpu).ok_or(MapError::TooBig)?;
        if flags == flags::ONLY_NEW {
            return Err(MapError::There);
        }
        self.value.copy(window, address, value);
        Ok(vec![address])
    }

    /// The element that an address is in.
    pub fn element(&self, address: u64) -> Option<Each> {
        let number = address.checked_sub(self.address)? / self.value.stride();
        let index = u32::try_from(number / self.copies).ok()?;
        let value = self.address + number * self.value.stride();
        (u64::from(index) < self.entries).then(|| (index.to_le_bytes().to_vec(), value))
    }

    pub fn list(&self, cpu: u64) -> Vec<Each> {
        let numbers = (0..self.entries).map(|index| {
            let key = u32::try_from(index).expect("there is memory for all").to_le_bytes();
            Some((key.to_vec(), self.find(index, cpu)?))
        });
        numbers.flatten().collect()
    }
}
