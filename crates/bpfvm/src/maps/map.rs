// SPDX-License-Identifier: GPL-2.0-only

use btf::Btf;

use super::array::Array;
use super::hash::Hash;
use super::queue::Queue;
use super::request::{Each, MapError, flags};
use super::ring::Ring;
use super::storage::Storage;
use super::value::ValueShape;
use crate::memory::{Heap, Window};
use crate::object;

/// A map, with what it holds.
#[derive(Debug)]
pub struct Map {
    pub name: String,
    pub kind: Kind,
    /// Bytes of a key.
    pub key: u64,
}

#[derive(Debug)]
pub enum Kind {
    Array(Array),
    Hash(Hash),
    Queue(Queue),
    Storage(Storage),
    Ring(Ring),
    /// The addresses that stand for other maps; 0 where none is.
    Maps(Vec<u64>),
    /// A kind that is not held here.
    Other(String),
}

impl Kind {
    pub fn queue(&mut self) -> Option<&mut Queue> {
        if let Self::Queue(queue) = self { Some(queue) } else { None }
    }

    pub fn storage(&mut self) -> Option<&mut Storage> {
        if let Self::Storage(storage) = self { Some(storage) } else { None }
    }

    pub fn ring(&mut self) -> Option<&mut Ring> {
        if let Self::Ring(ring) = self { Some(ring) } else { None }
    }
}

impl Map {
    /// Makes a map with as many copies of each value of a CPU as there are CPUs.
    ///
    /// # Errors
    /// It needs more memory than there is.
    pub fn new(
        described: &object::Map,
        btf: &Btf,
        cpus: u64,
        (heap, window): (&mut Heap, &mut Window),
    ) -> Result<Self, MapError> {
        let value = ValueShape::new(btf, described.value.size, described.value.of);
        let entries = described.entries;
        let name = described.kind.name().unwrap_or("of no name");
        let kind = match name {
            "ringbuf" => Kind::Ring(Ring::new(entries)?),
            "arena" | "user_ringbuf" => Kind::Other(name.to_owned()),
            _ if entries > u32::MAX.into() || value.bytes == 0 => return Err(MapError::Invalid),
            "array" => Kind::Array(Array::new(value, entries, 1, (heap, window))?),
            "percpu_array" => Kind::Array(Array::new(value, entries, cpus, (heap, window))?),
            "hash" => Kind::Hash(Hash::new(value, entries, 1, false)),
            "percpu_hash" => Kind::Hash(Hash::new(value, entries, cpus, false)),
            "lru_hash" => Kind::Hash(Hash::new(value, entries, 1, true)),
            "lru_percpu_hash" => Kind::Hash(Hash::new(value, entries, cpus, true)),
            "queue" => Kind::Queue(Queue::new(value.bytes, entries, false)),
            "stack" => Kind::Queue(Queue::new(value.bytes, entries, true)),
            "array_of_maps" => Kind::Maps(Vec::new()),
            "task_storage" | "cgroup_storage" => Kind::Storage(Storage::new(value)),
            _ => Kind::Other(name.to_owned()),
        };
        Ok(Self { name: described.name.clone(), kind, key: described.key.size })
    }

    /// The values, if they are in memory.
    pub fn shape(&self) -> Option<&ValueShape> {
        match &self.kind {
            Kind::Array(array) => Some(&array.value),
            Kind::Hash(hash) => Some(&hash.value),
            Kind::Storage(storage) => Some(&storage.value),
            Kind::Queue(_) | Kind::Ring(_) | Kind::Maps(_) | Kind::Other(_) => None,
        }
    }

    /// Bytes of a value.
    pub fn value(&self) -> u64 {
        match &self.kind {
            Kind::Queue(queue) => queue.bytes,
            _ => self.shape().map_or(0, |shape| shape.bytes),
        }
    }

    /// The element that an address is in.
    pub fn element(&self, address: u64) -> Option<Each> {
        match &self.kind {
            Kind::Array(array) => array.element(address),
            Kind::Hash(hash) => hash.element(address),
            _ => None,
        }
    }

    /// Whether the value of a key is at an address.
    pub fn has(&self, key: &[u8], address: u64) -> bool {
        match &self.kind {
            Kind::Hash(hash) => hash.has(key, address),
            _ => true,
        }
    }

    /// The address of the value for a CPU; None if there is none.
    pub fn find(&mut self, key: &[u8], cpu: u64) -> Option<u64> {
        match &mut self.kind {
            Kind::Array(array) => array.find(index(key)?, cpu),
            Kind::Hash(hash) => hash.find(key, cpu),
            Kind::Maps(maps) => {
                let map = maps.get(usize::try_from(index(key)?).ok()?).copied();
                map.filter(|&address| address != 0)
            }
            _ => None,
        }
    }

    /// Sets the value for a CPU; returns the addresses of values whose contents end with it.
    ///
    /// # Errors
    /// The flags forbid it, or there is no room.
    pub fn update(
        &mut self,
        (key, value): (&[u8], &[u8]),
        flags: u64,
        cpu: u64,
        (heap, window): (&mut Heap, &mut Window),
    ) -> Result<Vec<u64>, MapError> {
        let flags = flags & !flags::LOCKED;
        if flags > flags::ONLY_OLD {
            return Err(MapError::Invalid);
        }
        match &mut self.kind {
            Kind::Array(array) => {
                let index = index(key).ok_or(MapError::Invalid)?;
                array.update((index, value), flags, cpu, window)
            }
            Kind::Hash(hash) => hash.update((key, value), flags, cpu, (heap, window)),
            _ => Err(MapError::Invalid),
        }
    }

    /// Takes an element away; returns the addresses of its values.
    ///
    /// # Errors
    /// There is none, or this kind of map has always all.
    pub fn delete(&mut self, key: &[u8], heap: &mut Heap) -> Result<Vec<u64>, MapError> {
        match &mut self.kind {
            Kind::Hash(hash) => hash.delete(key, heap),
            _ => Err(MapError::Invalid),
        }
    }

    /// All elements as a CPU sees them: those of an array by their numbers, others by their keys.
    pub fn list(&self, cpu: u64) -> Vec<Each> {
        match &self.kind {
            Kind::Array(array) => array.list(cpu),
            Kind::Hash(hash) => hash.list(cpu),
            _ => Vec::new(),
        }
    }
}

fn index(key: &[u8]) -> Option<u64> {
    Some(u32::from_le_bytes(key.try_into().ok()?).into())
}
