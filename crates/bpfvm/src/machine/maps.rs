// SPDX-License-Identifier: GPL-2.0-only
//! Maps by the addresses that programs know them by.

use super::fault::Problem;
use super::state::{Machine, World};
use crate::maps::Map;
use crate::memory::{Heap, Window, length};

impl<W: World> Machine<W> {
    /// A map, and the memory that it may need; a fault if there is none at the address.
    pub fn map(&mut self, address: u64) -> Option<(&mut Map, (&mut Heap, &mut Window))> {
        let places = &self.program.maps;
        let Ok(number) = places.binary_search_by_key(&address, |place| place.address) else {
            self.fail(Problem::Misuse(format!("it takes {address:#x} for a map")));
            return None;
        };
        Some((&mut self.maps[number], (&mut self.heap, &mut self.window)))
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
