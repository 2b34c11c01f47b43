// SPDX-License-Identifier: GPL-2.0-only
//! Maps by the addresses that programs know them by.

use super::fault::Problem;
use super::state::{Machine, World};
use crate::maps::{Kind, Map};
use crate::memory::{Heap, Window, length};

impl<W: World> Machine<W> {
    /// A map, and the memory that it may need; a fault if there is none at the address.
    pub fn map(&mut self, address: u64) -> Option<(&mut Map, (&mut Heap, &mut Window))> {
        let Some(number) = self.program.map_at(address) else {
            self.fail(Problem::Misuse(format!("it takes {address:#x} for a map")));
            return None;
        };
        Some((&mut self.maps[number], (&mut self.heap, &mut self.window)))
    }

    /// A map of the kind that `pick` finds; `otherwise` is the fault if it is another.
    pub(crate) fn map_as<T>(
        &mut self,
        address: u64,
        pick: fn(&mut Kind) -> Option<&mut T>,
        otherwise: &str,
    ) -> Option<(&mut T, (&mut Heap, &mut Window))> {
        let kind = &mut self.map(address)?.0.kind;
        if pick(kind).is_none() {
            self.fail(Problem::Misuse(otherwise.into()));
            return None;
        }
        let (map, memory) = self.map(address)?;
        Some((pick(&mut map.kind)?, memory))
    }

    /// The map and the bytes of a record that is filled in at an address.
    pub(crate) fn open_record(&self, address: u64) -> Option<(usize, u64)> {
        self.maps.iter().enumerate().find_map(|(number, map)| match &map.kind {
            Kind::Ring(ring) => Some((number, ring.open(address)?)),
            _ => None,
        })
    }

    pub(crate) fn finish_record(&mut self, map: usize, address: u64, content: Option<Vec<u8>>) {
        if let Kind::Ring(ring) = &mut self.maps[map].kind {
            ring.finish(address, content);
        }
    }

    /// Takes the records that are finished out of a map for user space, by the map's number.
    pub fn take_records(&mut self, map: usize) -> Vec<Vec<u8>> {
        match &mut self.maps[map].kind {
            Kind::Ring(ring) => ring.take(),
            _ => Vec::new(),
        }
    }

    /// Bytes that a function of the kernel is given; a fault if they are not there.
    pub fn bytes(&mut self, address: u64, bytes: u64) -> Option<Vec<u8>> {
        // No key, value or text is longer.
        const MOST: u64 = 1 << 24;
        if bytes > MOST {
            self.fail(Problem::Misuse(format!("it hands over {bytes} bytes")));
            return None;
        }
        let mut read = vec![0; length(bytes)];
        match self.window.read_into(address, &mut read) {
            Ok(()) => Some(read),
            Err(not_there) => {
                self.fail(not_there);
                None
            }
        }
    }
}
