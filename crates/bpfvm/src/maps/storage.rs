// SPDX-License-Identifier: GPL-2.0-only

use fnv::FnvHashMap;

use super::request::MapError;
use super::value::ValueShape;
use crate::memory::{Heap, Window};

/// Values of tasks or control groups, by their addresses.
#[derive(Debug)]
pub struct Storage {
    pub value: ValueShape,
    values: FnvHashMap<u64, u64>,
}

impl Storage {
    pub fn new(value: ValueShape) -> Self {
        Self { value, values: FnvHashMap::default() }
    }

    pub fn find(&self, owner: u64) -> Option<u64> {
        self.values.get(&owner).copied()
    }

    /// The value of an owner that has none yet: as it is given, or 0.
    pub fn create(
        &mut self,
        owner: u64,
        value: Option<&[u8]>,
        (heap, window): (&mut Heap, &mut Window),
    ) -> Result<u64, MapError> {
        let address = self.value.allocate(heap, window, 1).ok_or(MapError::NoMemory)?;
        if let Some(value) = value {
            self.value.copy(window, address, value);
        }
        self.values.insert(owner, address);
        Ok(address)
    }

    pub fn delete(&mut self, owner: u64, heap: &mut Heap) -> Result<Vec<u64>, MapError> {
        let address = self.values.remove(&owner).ok_or(MapError::Missing)?;
        self.value.retire(heap, address, 1);
        Ok(vec![address])
    }
}
