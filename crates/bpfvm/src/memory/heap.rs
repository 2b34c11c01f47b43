// SPDX-License-Identifier: GPL-2.0-only

use std::collections::BTreeMap;
use std::io;

use super::layout::HEAP;
use super::window::Window;

/// Every part begins at a multiple of this, as far as C asks for it.
const ALIGNMENT: u64 = 16;

/// Gives out parts of the window's heap. The same requests in the same order get the same addresses.
#[derive(Debug)]
pub struct Heap {
    /// What was not given out yet begins here.
    next: u64,
    /// Parts that were given back, by their sizes; the last comes first.
    free: BTreeMap<u64, Vec<u64>>,
    /// Parts that will be given back, with their bytes.
    retired: Vec<(u64, u64)>,
}

impl Heap {
    /// All that is in the heap beyond an address can be given out.
    pub fn beyond(address: u64) -> Self {
        Self {
            next: address.max(HEAP).next_multiple_of(ALIGNMENT),
            free: BTreeMap::new(),
            retired: Vec::new(),
        }
    }

    /// The address of `bytes` bytes that nothing else has, all 0.
    ///
    /// # Errors
    /// There is no room for them.
    pub fn allocate(&mut self, window: &mut Window, bytes: u64) -> io::Result<u64> {
        let size = size(bytes).ok_or(io::ErrorKind::OutOfMemory)?;
        if let Some(address) = self.free.get_mut(&size).and_then(Vec::pop) {
            let zeros = vec![0; usize::try_from(size).expect("it was given out before")];
            window.write(address, &zeros).map_err(io::Error::other)?;
            return Ok(address);
        }
        let end = self.next.checked_add(size).ok_or(io::ErrorKind::OutOfMemory)?;
        window.grow(end)?;
        Ok(std::mem::replace(&mut self.next, end))
    }

    /// Takes back what was given out for as many bytes.
    pub fn release(&mut self, address: u64, bytes: u64) {
        let size = size(bytes).expect("it was given out before");
        self.free.entry(size).or_default().push(address);
    }

    /// Takes back what who has found it before may go on to use, until [`Self::settle`].
    pub fn retire(&mut self, address: u64, bytes: u64) {
        self.retired.push((address, bytes));
    }

    /// Gives back what was retired.
    #[inline]
    pub fn settle(&mut self) {
        while let Some((address, bytes)) = self.retired.pop() {
            self.release(address, bytes);
        }
    }

    /// Bytes in use or given back.
    pub fn used(&self) -> u64 {
        self.next - HEAP
    }
}

fn size(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_apart_and_empty() {
        let mut window = Window::reserve().unwrap();
        let mut heap = Heap::beyond(0);
        let sizes = [1, 16, 17, 0, 5000];
        let parts = sizes.map(|bytes| heap.allocate(&mut window, bytes).unwrap());
        assert_eq!(parts, [0, 16, 32, 64, 80].map(|at| HEAP + at));
        window.write(parts[1], &[1; 16]).unwrap();
        heap.release(parts[1], 16);
        assert_eq!(heap.allocate(&mut window, 20).unwrap(), HEAP + 80 + 5008);
        let again = heap.allocate(&mut window, 10).unwrap();
        assert_eq!((again, window.read(again)), (parts[1], Ok([0; 16])));
        for bytes in [u64::MAX, u64::MAX - 100, 1 << 63, 1 << 32] {
            assert_eq!(
                heap.allocate(&mut window, bytes).unwrap_err().kind(),
                io::ErrorKind::OutOfMemory
            );
        }
        assert_eq!(heap.used(), 80 + 5008 + 32);
    }
}
