// SPDX-License-Identifier: GPL-2.0-only

use std::collections::VecDeque;

use super::request::MapError;
use crate::memory::PAGE;

/// Records for user space, in the order in which room was made for them. They take room until they are read.
#[derive(Debug)]
pub struct Ring {
    bytes: u64,
    /// Bytes that were ever written, and those of them that were read.
    written: u64,
    read: u64,
    records: VecDeque<Record>,
}

#[derive(Debug)]
struct Record {
    /// Where the program fills it in.
    address: u64,
    bytes: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Open,
    Done(Vec<u8>),
    Discarded,
}

/// Bytes before each record (kernel/bpf/ringbuf.c).
const HEADER: u64 = 8;

/// No record may be larger.
const LARGEST: u64 = u32::MAX as u64 / 4;

impl Ring {
    pub fn new(bytes: u64) -> Result<Self, MapError> {
        if !bytes.is_power_of_two() || !bytes.is_multiple_of(PAGE) {
            return Err(MapError::Invalid);
        }
        Ok(Self { bytes, written: 0, read: 0, records: VecDeque::new() })
    }

    /// Whether there is room for a record of as many bytes.
    pub fn has_room(&self, bytes: u64) -> bool {
        bytes <= LARGEST && self.written - self.read + taken(bytes) < self.bytes
    }

    /// Makes room for a record that is filled in at an address.
    pub fn reserve(&mut self, address: u64, bytes: u64) {
        self.written += taken(bytes);
        self.records.push_back(Record { address, bytes, state: State::Open });
    }

    /// The bytes of the record that is filled in at an address.
    pub fn open(&self, address: u64) -> Option<u64> {
        let found = self.records.iter().find(|record| record.is_open(address));
        found.map(|record| record.bytes)
    }

    /// Ends the record at an address: with what is in it, or as one that nobody reads.
    pub fn finish(&mut self, address: u64, content: Option<Vec<u8>>) {
        let found = self.records.iter_mut().find(|record| record.is_open(address));
        if let Some(record) = found {
            record.state = content.map_or(State::Discarded, State::Done);
        }
    }

    /// Reads records up to the first that is not finished.
    pub fn take(&mut self) -> Vec<Vec<u8>> {
        let mut taken_out = Vec::new();
        while self.records.front().is_some_and(|first| !matches!(first.state, State::Open)) {
            let Some(record) = self.records.pop_front() else { break };
            self.read += taken(record.bytes);
            if let State::Done(content) = record.state {
                taken_out.push(content);
            }
        }
        taken_out
    }

    /// What a program may ask by a number: bytes that wait, bytes of the whole, bytes ever read and written.
    pub fn query(&self, what: u64) -> u64 {
        match what {
            0 => self.written - self.read,
            1 => self.bytes,
            2 => self.read,
            3 => self.written,
            _ => 0,
        }
    }
}

impl Record {
    fn is_open(&self, address: u64) -> bool {
        self.address == address && matches!(self.state, State::Open)
    }
}

/// Bytes that a record takes.
fn taken(bytes: u64) -> u64 {
    (bytes + HEADER).next_multiple_of(8)
}
