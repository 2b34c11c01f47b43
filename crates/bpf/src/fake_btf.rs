// SPDX-License-Identifier: GPL-2.0-only
//! BTF of a made-up kernel, for tests; the format is in the kernel's Documentation/bpf/btf.rst.

use std::io::Write;

use libbpf_rs::btf::Btf;
use tempfile::NamedTempFile;

const INT: u32 = 1;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const ENUM: u32 = 6;
const TYPEDEF: u32 = 8;
const VAR: u32 = 14;
const DATASEC: u32 = 15;
const ENUM64: u32 = 19;

#[derive(Default)]
pub struct FakeBtf {
    types: Vec<u32>,
    names: Vec<u8>,
}

impl FakeBtf {
    pub fn integer(&mut self, name: &str, bytes: u32) {
        self.describe(name, INT, 0, bytes);
        self.types.push(bytes * 8);
    }

    /// Adds an enumeration of the kind for 32 bits that says to have this size.
    pub fn enumeration(&mut self, name: &str, bytes: u32, members: &[(&str, u32)]) {
        self.describe(name, ENUM, members.len(), bytes);
        for &(name, value) in members {
            let name = self.name(name);
            self.types.extend([name, value]);
        }
    }

    pub fn enumeration64(&mut self, name: &str, members: &[(&str, u64)]) {
        self.describe(name, ENUM64, members.len(), 8);
        for &(name, value) in members {
            let name = self.name(name);
            let halves = [value & u64::from(u32::MAX), value >> 32];
            self.types.push(name);
            self.types.extend(halves.map(|half| u32::try_from(half).unwrap()));
        }
    }

    /// Adds another name for the type of this number.
    pub fn typedef(&mut self, name: &str, target: u32) {
        self.describe(name, TYPEDEF, 0, target);
    }

    /// Adds an array of two elements of the type of this number.
    pub fn array(&mut self, element: u32) {
        self.describe("", ARRAY, 0, 0);
        self.types.extend([element, element, 2]);
    }

    /// Adds a structure with members of the types of these numbers, all at its start.
    pub fn structure(&mut self, name: &str, members: &[(&str, u32)]) {
        self.describe(name, STRUCT, members.len(), 8);
        for &(name, member) in members {
            let name = self.name(name);
            self.types.extend([name, member, 0]);
        }
    }

    /// Adds a variable of the type of this number, and a section that holds it: two types.
    pub fn variable(&mut self, section: &str, name: &str, target: u32, number: u32) {
        self.describe(name, VAR, 0, target);
        self.types.push(1);
        self.describe(section, DATASEC, 1, 8);
        self.types.extend([number, 0, 8]);
    }

    /// Calls `read` with the types, parsed by libbpf.
    pub fn with<T>(&self, read: impl FnOnce(&Btf<'_>) -> T) -> T {
        let mut file = NamedTempFile::new().unwrap();
        let length = u32::try_from(self.types.len() * 4).unwrap();
        let names: Vec<u8> = [&[0], &self.names[..]].concat();
        let words = [24, 0, length, length, u32::try_from(names.len()).unwrap()];
        file.write_all(&0xeb9f_u16.to_ne_bytes()).unwrap();
        file.write_all(&[1, 0]).unwrap();
        for word in words.iter().chain(&self.types) {
            file.write_all(&word.to_ne_bytes()).unwrap();
        }
        file.write_all(&names).unwrap();
        read(&Btf::from_path(file.path()).unwrap())
    }

    fn describe(&mut self, name: &str, kind: u32, members: usize, bytes: u32) {
        let name = self.name(name);
        let info = kind << 24 | u32::try_from(members).unwrap();
        self.types.extend([name, info, bytes]);
    }

    /// Adds a name and returns its offset; the name at offset 0 is empty.
    fn name(&mut self, name: &str) -> u32 {
        let place = u32::try_from(1 + self.names.len()).unwrap();
        self.names.extend(name.bytes().chain([0]));
        place
    }
}
