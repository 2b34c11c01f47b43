// SPDX-License-Identifier: GPL-2.0-only
//! Little-endian numbers, one after the other.

use crate::error::BtfError;

/// A place in bytes; each read moves it on.
#[derive(Debug, Clone, Copy)]
pub struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0 }
    }

    /// The bytes from `offset` on, `length` of them.
    ///
    /// # Errors
    /// There are fewer.
    pub fn part(all: &'a [u8], offset: u32, length: u32) -> Result<Self, BtfError> {
        let (from, length) = (offset as usize, length as usize);
        let until = from.checked_add(length).ok_or(BtfError::Short { at: all.len() })?;
        all.get(from..until).map(Self::new).ok_or(BtfError::Short { at: all.len() })
    }

    pub fn is_empty(&self) -> bool {
        self.at >= self.all.len()
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.all.len() - self.at
    }

    /// All bytes that are left.
    pub fn take_all(self) -> &'a [u8] {
        &self.all[self.at..]
    }

    /// # Errors
    /// Fewer than `length` bytes are left.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], BtfError> {
        let until = self.at.checked_add(length).filter(|&until| until <= self.all.len());
        let until = until.ok_or(BtfError::Short { at: self.at })?;
        let taken = &self.all[self.at..until];
        self.at = until;
        Ok(taken)
    }

    /// # Errors
    /// Fewer than two bytes are left.
    pub fn u16(&mut self) -> Result<u16, BtfError> {
        let taken = self.take(2)?;
        Ok(u16::from_le_bytes([taken[0], taken[1]]))
    }

    /// # Errors
    /// Fewer than four bytes are left.
    pub fn u32(&mut self) -> Result<u32, BtfError> {
        let taken = self.take(4)?;
        Ok(u32::from_le_bytes([taken[0], taken[1], taken[2], taken[3]]))
    }
}

/// The text from `offset` in a table of texts that each end with a zero.
pub fn text(table: &[u8], offset: u32) -> Option<&str> {
    let rest = table.get(offset as usize..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}
