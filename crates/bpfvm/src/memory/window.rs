// SPDX-License-Identifier: GPL-2.0-only

use std::ffi::c_void;
use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap,
};
use thiserror::Error;

use super::layout::{ARENA, HEAP, MASK, PAGE, RESERVED, SIZE, length};

const ARENA_PAGES: usize = length((SIZE - ARENA) / PAGE);

/// Addresses of which only parts have memory behind them: null pages that can be read, the heap, and pages of the arena.
#[derive(Debug)]
pub struct Window {
    base: NonNull<c_void>,
    /// The end of the heap, at the end of a page.
    end: u64,
    /// Which pages of the arena are there.
    pages: Vec<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// An access to memory of which a part is not there, or cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it {} {bytes} bytes and finds no memory at {address:#x}", match .access { Access::Read => "reads", Access::Write => "writes" })]
pub struct NotThere {
    pub access: Access,
    /// The first byte of it that is not there, in the window.
    pub address: u64,
    /// How many are read or written.
    pub bytes: u64,
}

// Only this value refers to its pages.
unsafe impl Send for Window {}

impl Window {
    /// Reserves the addresses; no memory is used yet.
    ///
    /// # Errors
    /// The system does not give as many addresses.
    pub fn reserve() -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses addresses that nothing else has.
        let base = unsafe {
            mmap_anonymous(ptr::null_mut(), length(RESERVED), ProtFlags::empty(), flags)
        }?;
        let base = NonNull::new(base).expect("no mapping begins at 0");
        let mut window = Self { base, end: HEAP, pages: vec![false; ARENA_PAGES] };
        window.protect(0, HEAP, MprotectFlags::READ)?;
        Ok(window)
    }

    /// The host's address of the guest's address 0.
    pub fn base(&self) -> NonNull<c_void> {
        self.base
    }

    /// The end of the heap.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Puts memory behind the heap up to `end`, in whole pages; it reads as 0.
    ///
    /// # Errors
    /// The heap would reach the arena, or the system has no memory left.
    pub fn grow(&mut self, end: u64) -> io::Result<()> {
        let end = end.next_multiple_of(PAGE);
        if end > ARENA {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if end > self.end {
            self.protect(self.end, end, MprotectFlags::READ | MprotectFlags::WRITE)?;
            self.end = end;
        }
        Ok(())
    }

    /// Whether a page of the arena is there.
    pub fn has_page(&self, page: usize) -> bool {
        self.pages.get(page).copied().unwrap_or(false)
    }

    /// Puts memory behind a page of the arena, or takes it away; what comes anew reads as 0.
    ///
    /// # Errors
    /// There is no such page, or the system has no memory left.
    pub fn set_page(&mut self, page: usize, is_there: bool) -> io::Result<()> {
        let known = self.pages.get(page).copied().ok_or(io::ErrorKind::InvalidInput)?;
        if known != is_there {
            let from = ARENA + page as u64 * PAGE;
            let flags = match is_there {
                true => MprotectFlags::READ | MprotectFlags::WRITE,
                false => MprotectFlags::empty(),
            };
            if !is_there {
                // SAFETY: the page is inside the window, and no reference to it is kept.
                unsafe { madvise(self.host(from), length(PAGE), Advice::LinuxDontNeed) }?;
            }
            self.protect(from, from + PAGE, flags)?;
            self.pages[page] = is_there;
        }
        Ok(())
    }

    /// Puts memory behind bytes at an address, in whole pages of the heap or of the arena.
    ///
    /// # Errors
    /// They are in neither, or the system has no memory left.
    pub fn cover(&mut self, address: u64, bytes: u64) -> io::Result<()> {
        let end = address.checked_add(bytes).ok_or(io::ErrorKind::OutOfMemory)?;
        if address < ARENA {
            return self.grow(end);
        }
        let page = |address: u64| length((address - ARENA) / PAGE);
        (page(address)..page(end.next_multiple_of(PAGE)))
            .try_for_each(|page| self.set_page(page, true))
    }

    /// The bytes at an address, which is cut to the window, where they lie.
    ///
    /// # Errors
    /// No memory is there.
    pub fn bytes(&self, address: u64, bytes: u64) -> Result<&[u8], NotThere> {
        let from = self.check(Access::Read, address, bytes)?;
        // SAFETY: all these bytes can be read, and only who has the window for himself alone writes to them.
        Ok(unsafe { std::slice::from_raw_parts(from.cast_const().cast(), length(bytes)) })
    }

    /// The bytes at an address, which is cut to the window.
    ///
    /// # Errors
    /// No memory is there.
    pub fn read<const N: usize>(&self, address: u64) -> Result<[u8; N], NotThere> {
        let mut bytes = [0; N];
        self.read_into(address, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads as many bytes as there is room for.
    ///
    /// # Errors
    /// No memory is there.
    pub fn read_into(&self, address: u64, to: &mut [u8]) -> Result<(), NotThere> {
        let from = self.check(Access::Read, address, to.len() as u64)?;
        // SAFETY: all these bytes can be read, and `to` is not in the window, whose bytes nobody borrows.
        unsafe { ptr::copy_nonoverlapping(from.cast_const().cast(), to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    /// Writes bytes to an address, which is cut to the window.
    ///
    /// # Errors
    /// No memory is there, or it cannot be written; nothing is written then.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), NotThere> {
        let to = self.check(Access::Write, address, bytes.len() as u64)?;
        // SAFETY: all these bytes can be written, and `bytes` is not in the window, whose bytes nobody borrows.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
        Ok(())
    }

    /// Writes a number of eight bytes to where the heap is known to be.
    ///
    /// # Panics
    /// It is not.
    #[inline]
    pub fn put(&mut self, address: u64, value: u64) {
        assert!(HEAP <= address && address + 8 <= self.end, "the heap is there");
        // SAFETY: these bytes of the heap can be written, and nobody borrows them.
        unsafe { self.host(address).cast::<u64>().write_unaligned(value.to_le()) };
    }

    /// The host's address of bytes that are all there.
    fn check(&self, access: Access, address: u64, bytes: u64) -> Result<*mut c_void, NotThere> {
        let from = address & MASK;
        let end = from.saturating_add(bytes);
        let mut at = from;
        while at < end {
            if !self.is_there(access, at) {
                return Err(NotThere { access, address: at, bytes });
            }
            at = (at / PAGE + 1) * PAGE;
        }
        Ok(self.host(from))
    }

    /// Whether the page of an address is there.
    fn is_there(&self, access: Access, address: u64) -> bool {
        match address {
            ..HEAP => access == Access::Read,
            HEAP..ARENA => address < self.end,
            _ => self.has_page(length((address - ARENA) / PAGE)),
        }
    }

    fn host(&self, address: u64) -> *mut c_void {
        debug_assert!(address <= SIZE);
        // SAFETY: the address is inside what was reserved.
        unsafe { self.base.byte_add(length(address)) }.as_ptr()
    }

    fn protect(&mut self, from: u64, to: u64, flags: MprotectFlags) -> io::Result<()> {
        // SAFETY: these pages belong to this window, and no reference to them is kept.
        Ok(unsafe { mprotect(self.host(from), length(to - from), flags) }?)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: it was mapped as a whole, and nothing refers to it any more.
        let unmapped = unsafe { munmap(self.base.as_ptr(), length(RESERVED)) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(access: Access, address: u64, bytes: u64) -> NotThere {
        NotThere { access, address, bytes }
    }

    #[test]
    fn only_what_is_there_is_read_and_written() {
        let mut window = Window::reserve().unwrap();
        window.grow(HEAP + 1).unwrap();
        let end = HEAP + PAGE;
        assert_eq!(window.end(), end);
        window.write(HEAP, &[1, 2]).unwrap();
        assert_eq!(window.read(HEAP - 1), Ok([0, 1, 2]));
        assert_eq!(window.read(0), Ok([0; 8]));
        window.write(end - 1, &[7]).unwrap();
        let read = |address| window.read::<2>(address).unwrap_err();
        assert_eq!(read(end - 1), wanted(Access::Read, end, 2));
        assert_eq!(read(ARENA - 1), wanted(Access::Read, ARENA - 1, 2));
        assert_eq!(read(MASK), wanted(Access::Read, MASK, 2));
        for address in [0, HEAP - 2, HEAP - 1, end, ARENA] {
            assert_eq!(window.write(address, &[1, 2]), Err(wanted(Access::Write, address, 2)));
        }
        assert_eq!(window.write(end - 1, &[1, 2]), Err(wanted(Access::Write, end, 2)));
        assert_eq!(window.read(HEAP), Ok([1]));
        assert_eq!(window.read(end - 1), Ok([7]));
    }

    #[test]
    fn addresses_are_cut_to_the_window() {
        let mut window = Window::reserve().unwrap();
        window.grow(HEAP + 8).unwrap();
        window.write(0xffff_ffff_0000_0000 & !MASK | HEAP, &[9]).unwrap();
        assert_eq!(window.read(HEAP), Ok([9]));
        // The kernel's own addresses are beyond it.
        let kernel = 0xffff_8880_0000_0000;
        assert_eq!(window.read(kernel), Ok([0]));
        assert_eq!(window.write(kernel, &[9]), Err(wanted(Access::Write, 0, 1)));
        let sentence = wanted(Access::Read, HEAP, 8).to_string();
        assert_eq!(sentence, "it reads 8 bytes and finds no memory at 0x10000");
    }

    #[test]
    fn pages_of_the_arena_come_and_go() {
        let mut window = Window::reserve().unwrap();
        let second = ARENA + PAGE;
        assert!(window.read::<1>(second).is_err());
        window.set_page(1, true).unwrap();
        window.write(second, &[5]).unwrap();
        assert!(window.write(second + PAGE - 1, &[5, 5]).is_err());
        window.set_page(2, true).unwrap();
        window.write(second + PAGE - 1, &[5, 5]).unwrap();
        window.set_page(1, false).unwrap();
        assert!(window.read::<1>(second).is_err());
        window.set_page(1, true).unwrap();
        assert_eq!(window.read(second), Ok([0]));
        assert_eq!(window.read(second + PAGE), Ok([5]));
        let last = ARENA_PAGES - 1;
        window.set_page(last, true).unwrap();
        window.write(MASK, &[5]).unwrap();
        assert!(window.write(MASK, &[5, 5]).is_err());
        assert!(window.set_page(last + 1, true).is_err());
        assert!(window.grow(ARENA + 1).is_err());
    }
}
