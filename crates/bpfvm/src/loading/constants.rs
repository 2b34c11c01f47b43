// SPDX-License-Identifier: GPL-2.0-only
//! What stays as it is once an object is loaded.

use super::trial::Trial;
use crate::object::{Purpose, Want};
use crate::reach::{Memory, Place};

impl Trial<'_> {
    /// What stays as it is: constants, if they are those of the compiler, and options of the configuration.
    pub fn memory(&self, is_as_compiled: bool) -> Memory {
        let mut memory = Memory::default();
        for (number, data) in self.object.data.iter().enumerate() {
            if data.purpose != Purpose::Constants {
                continue;
            }
            let mut bytes: Vec<_> =
                data.bytes.iter().map(|&byte| is_as_compiled.then_some(byte)).collect();
            // Every loader fills these in from the kernel's own.
            for variable in &data.variables {
                let Some(name) = variable.name.strip_prefix("__SCX_") else { continue };
                let value = self.kernel.enumerator(&format!("SCX_{name}")).unwrap_or(0);
                let range = variable.offset..variable.offset + variable.size;
                for (at, byte) in range.zip(value.to_le_bytes()) {
                    bytes[usize::try_from(at).expect("it is inside")] = Some(byte);
                }
            }
            memory.insert(Place::Data(number), bytes);
        }
        for (number, each) in self.object.outside.iter().enumerate() {
            if let Want::Setting(_) = each.want {
                let value = self.kernel.setting(&each.name).unwrap_or(0);
                memory.insert(Place::Outside(number), value.to_le_bytes().map(Some).to_vec());
            }
        }
        memory
    }
}
