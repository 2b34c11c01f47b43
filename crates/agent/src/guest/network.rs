// SPDX-License-Identifier: GPL-2.0-only
//! The guest's network: the loopback device, which a server and its clients in one work need.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::libc;

/// Switches the loopback device on; the kernel then gives it 127.0.0.1 and ::1 by itself. A kernel
/// without a network has none.
///
/// # Errors
/// The device stays down.
pub fn switch_loopback_on() -> Result<()> {
    match switch_on(b"lo") {
        Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => Ok(()),
        outcome => outcome.context("cannot switch the loopback device on"),
    }
}

fn switch_on(device: &[u8]) -> io::Result<()> {
    // SAFETY: plain numbers.
    let socket = Errno::result(unsafe {
        libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0)
    })?;
    // SAFETY: the descriptor was just opened, and nothing else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: all zeroes is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, &from) in request.ifr_name.iter_mut().zip(device) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags =
        i16::try_from(libc::IFF_UP).expect("the flag is one of the lowest 16 bits");
    // SAFETY: `request` has the layout that the request reads, and a name that ends with a zero.
    Errno::result(unsafe {
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    })?;
    Ok(())
}
