// SPDX-License-Identifier: GPL-2.0-only

use std::collections::BTreeMap;

use btf::TypeId;

/// What programs allocate one by one, with how often each is referred to.
#[derive(Debug, Default)]
pub struct Allocated(BTreeMap<u64, Part>);

#[derive(Debug)]
struct Part {
    bytes: u64,
    kind: Kind,
    references: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Cpumask,
    /// A value of a type of the object.
    Local(TypeId),
}

/// What a reference less has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// Others refer to it.
    Kept,
    /// It was the last: what was allocated, and how many bytes.
    Gone(Kind, u64),
}

impl Allocated {
    /// Notes what was allocated, with one reference.
    pub fn add(&mut self, address: u64, bytes: u64, kind: Kind) {
        self.0.insert(address, Part { bytes, kind, references: 1 });
    }

    /// What begins at an address.
    pub fn kind(&self, address: u64) -> Option<Kind> {
        self.0.get(&address).map(|part| part.kind)
    }

    /// Where that begins in which an address is.
    pub fn start(&self, address: u64) -> Option<u64> {
        let (&start, part) = self.0.range(..=address).next_back()?;
        (address - start < part.bytes).then_some(start)
    }

    /// Refers to it once more. False if it is not there.
    pub fn acquire(&mut self, address: u64) -> bool {
        let part = self.0.get_mut(&address);
        part.map(|part| part.references += 1).is_some()
    }

    /// Refers to it once less; None if it is not there.
    pub fn release(&mut self, address: u64) -> Option<Release> {
        let part = self.0.get_mut(&address)?;
        part.references -= 1;
        if part.references > 0 {
            return Some(Release::Kept);
        }
        let part = self.0.remove(&address)?;
        Some(Release::Gone(part.kind, part.bytes))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}
