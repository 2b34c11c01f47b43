// SPDX-License-Identifier: GPL-2.0-only
//! The guest's NVDIMMs, told apart by their content: the kernel promises no order of their numbers.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, bail};

/// A driver may still be creating its device when its module has been loaded: 5 s in 10 ms steps.
const TRIES: u32 = 500;

const PAGE: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Content {
    /// An ext4 file system with this label.
    FileSystem(&'static str),
    SwapSpace,
}

/// The device with this content.
pub fn find(content: Content) -> Result<PathBuf> {
    for _ in 0..TRIES {
        for entry in fs::read_dir("/dev")? {
            let path = entry?.path();
            let is_nvdimm =
                path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"pmem"));
            let mut page = [0; PAGE];
            // The node is there before its driver can serve it.
            let read = is_nvdimm
                && File::open(&path).and_then(|mut file| file.read_exact(&mut page)).is_ok();
            if read && holds(&page, content) {
                return Ok(path);
            }
        }
        sleep(Duration::from_millis(10));
    }
    bail!("no device of the guest holds {content:?}");
}

/// Whether a device with this first page has the content: ext4's superblock begins at 1024, a swap
/// header ends the page.
fn holds(page: &[u8; PAGE], content: Content) -> bool {
    const MAGIC: usize = 1024 + 0x38;
    const LABEL: usize = 1024 + 0x78;
    const LABEL_LENGTH: usize = 16;
    match content {
        Content::SwapSpace => page.ends_with(b"SWAPSPACE2"),
        Content::FileSystem(label) => {
            let found = &page[LABEL..LABEL + LABEL_LENGTH];
            page[MAGIC..MAGIC + 2] == 0xef53_u16.to_le_bytes()
                && found.split(|&byte| byte == 0).next() == Some(label.as_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_told_apart_by_what_is_on_them() {
        let mut swap = [0; PAGE];
        swap[PAGE - 10..].copy_from_slice(b"SWAPSPACE2");
        let mut disk = [0; PAGE];
        disk[1080..1082].copy_from_slice(&[0x53, 0xef]);
        disk[1144..1151].copy_from_slice(b"scratch");
        assert!(holds(&swap, Content::SwapSpace) && holds(&disk, Content::FileSystem("scratch")));
        assert!(!holds(&disk, Content::FileSystem("runoff")) && !holds(&disk, Content::SwapSpace));
        assert!(!holds(&[0; PAGE], Content::FileSystem("")));
    }
}
