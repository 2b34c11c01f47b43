// SPDX-License-Identifier: GPL-2.0-only
//! Files that actors read and write at random places, past the page cache.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

use anyhow::{Context, Result};
use rustix::fs::OFlags;

const PAGE: usize = 4096;
const MEBIBYTE: usize = 1 << 20;

/// Where the file of a resource is: in the working directory.
fn path(name: &str) -> PathBuf {
    PathBuf::from(format!("{name}.scene"))
}

/// Makes the file, all of it written to the disk.
pub fn make(name: &str, bytes: usize) -> Result<()> {
    let fill = || {
        let mut file = File::create_new(path(name))?;
        // Not zeros, which a disk might not keep.
        let piece: Vec<u8> = (0..MEBIBYTE).map(|index| index.to_le_bytes()[0] ^ 0xa5).collect();
        for _ in 0..bytes / MEBIBYTE {
            file.write_all(&piece)?;
        }
        file.sync_all()
    };
    fill().with_context(|| format!("cannot write the file {}", path(name).display()))
}

pub fn remove(name: &str) {
    // The directory of a sample is removed too.
    let _ = std::fs::remove_file(path(name));
}

/// A file as one actor has it open.
#[derive(Debug)]
pub struct Disk {
    file: File,
    bytes: usize,
    buffer: Vec<u8>,
}

impl Disk {
    pub fn open(name: &str, bytes: usize) -> Result<Self> {
        let flags = OFlags::DIRECT.bits().cast_signed();
        let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path(name));
        let file = opened.with_context(|| {
            format!(
                "cannot read {} past the page cache: it must be on a disk",
                path(name).display()
            )
        })?;
        Ok(Self { file, bytes, buffer: Vec::new() })
    }

    /// Reads from a place that the number that was drawn stands for.
    pub fn read(&mut self, bytes: usize, drawn: u64) -> Result<()> {
        let place = self.place(bytes, drawn);
        let buffer = aligned(&mut self.buffer, bytes);
        self.file.read_exact_at(buffer, place).context("cannot read from the disk")
    }

    pub fn write(&mut self, bytes: usize, drawn: u64) -> Result<()> {
        let place = self.place(bytes, drawn);
        let buffer = aligned(&mut self.buffer, bytes);
        self.file.write_all_at(buffer, place).context("cannot write to the disk")
    }

    fn place(&self, bytes: usize, drawn: u64) -> u64 {
        let pages = (self.bytes - bytes) / PAGE + 1;
        let page = drawn % u64::try_from(pages).unwrap_or(1);
        page * 4096
    }
}

/// Memory that direct I/O takes.
fn aligned(buffer: &mut Vec<u8>, bytes: usize) -> &mut [u8] {
    if buffer.len() < bytes + PAGE {
        buffer.resize(bytes + PAGE, 0x5a);
    }
    let from = buffer.as_ptr().align_offset(PAGE);
    &mut buffer[from..from + bytes]
}
