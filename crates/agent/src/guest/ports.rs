// SPDX-License-Identifier: GPL-2.0-only
//! Port I/O, which the first process of a guest may be allowed (ioperm(2)).

use std::arch::asm;
use std::io;

use nix::errno::Errno;
use nix::libc;

/// A right to `count` ports from `first`, given back at its end, so that no child inherits it.
pub struct Ports {
    first: u16,
    count: u16,
}

impl Ports {
    pub fn open(first: u16, count: u16) -> io::Result<Self> {
        allow(first, count, true)?;
        Ok(Self { first, count })
    }

    pub fn write_byte(&mut self, port: u16, value: u8) {
        let port = self.checked(port, 1);
        // SAFETY: the port may be written to (ioperm), and belongs to a device of ours.
        unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack)) };
    }

    pub fn write_word(&mut self, port: u16, value: u16) {
        let port = self.checked(port, 2);
        // SAFETY: as above.
        unsafe { asm!("out dx, ax", in("dx") port, in("ax") value, options(nomem, nostack)) };
    }

    pub fn read_byte(&mut self, port: u16) -> u8 {
        let port = self.checked(port, 1);
        let value: u8;
        // SAFETY: as above.
        unsafe { asm!("in al, dx", out("al") value, in("dx") port, options(nomem, nostack)) };
        value
    }

    /// # Panics
    /// The port is another's.
    fn checked(&self, port: u16, bytes: u16) -> u16 {
        assert!(port >= self.first && port + bytes <= self.first + self.count, "port {port:#x}");
        port
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        // Taking a right away cannot fail.
        let _ = allow(self.first, self.count, false);
    }
}

fn allow(first: u16, count: u16, on: bool) -> io::Result<()> {
    // SAFETY: plain numbers.
    Errno::result(unsafe { libc::ioperm(first.into(), count.into(), on.into()) })?;
    Ok(())
}
