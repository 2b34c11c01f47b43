// SPDX-License-Identifier: GPL-2.0-only
//! Files that QEMU was given for its guest (QEMU, hw/nvram/fw_cfg.c). They are read by port I/O,
//! where every byte is there at once: nothing depends on the host's time.

use anyhow::{Context, Result};

use super::ports::Ports;

const SELECTOR: u16 = 0x510;
const DATA: u16 = 0x511;

/// The list of files: their number, then `struct FWCfgFile` of each, the most significant byte first.
const DIRECTORY: u16 = 0x19;
const NAME_BYTES: usize = 56;

/// Reads a whole file.
///
/// # Errors
/// Port I/O is not permitted, or there is no such file.
pub fn read(name: &str) -> Result<Vec<u8>> {
    let mut ports = Ports::open(SELECTOR, 2).context("no port I/O")?;
    ports.write_word(SELECTOR, DIRECTORY);
    let count = u32::from_be_bytes(bytes(&mut ports));
    let mut found = None;
    for _ in 0..count {
        let length = u32::from_be_bytes(bytes(&mut ports));
        let selector = u16::from_be_bytes(bytes(&mut ports));
        let _reserved: [u8; 2] = bytes(&mut ports);
        let text: [u8; NAME_BYTES] = bytes(&mut ports);
        if text.split(|&byte| byte == 0).next() == Some(name.as_bytes()) {
            found = Some((selector, length));
        }
    }
    let (selector, length) = found.with_context(|| format!("QEMU was given no file {name}"))?;
    ports.write_word(SELECTOR, selector);
    Ok((0..length).map(|_| ports.read_byte(DATA)).collect())
}

fn bytes<const COUNT: usize>(ports: &mut Ports) -> [u8; COUNT] {
    std::array::from_fn(|_| ports.read_byte(DATA))
}
