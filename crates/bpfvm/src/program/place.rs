// SPDX-License-Identifier: GPL-2.0-only
//! Where in memory what is from the start: the variables of the object, what stands for its maps, and its settings.

use btf::{Btf, Kind, TypeId};

use crate::kernel::Kernel;
use crate::memory::{ARENA, HEAP, PAGE};
use crate::object::{Data, Object, Purpose, Want};

/// Bytes at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub address: u64,
    pub bytes: Vec<u8>,
}

/// Where a section of variables lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionPlace {
    pub name: String,
    pub address: u64,
}

/// Where the pointer to a map leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapPlace {
    pub name: String,
    pub address: u64,
}

/// Room for the kernel's `struct bpf_map`, which programs know by its address alone.
pub const MAP_BYTES: u64 = 64;

/// The addresses of everything that an object has and wants.
pub struct Places {
    pub parts: Vec<Part>,
    pub sections: Vec<SectionPlace>,
    pub maps: Vec<MapPlace>,
    /// The addresses of settings, by the numbers of what is wanted from outside.
    pub settings: Vec<Option<u64>>,
    pub end: u64,
}

/// Lays out an object in memory, with what the loading program of every scheduler fills in from the kernel.
pub fn lay_out(object: &Object, kernel: &Kernel) -> Places {
    let mut places = Places {
        parts: Vec::new(),
        sections: Vec::new(),
        maps: Vec::new(),
        settings: Vec::new(),
        end: HEAP,
    };
    for data in &object.data {
        let bytes = fill_in(data, kernel);
        let address = match data.purpose {
            Purpose::Arena => ARENA + place_in_arena(object, bytes.len() as u64),
            _ => places.take(bytes.len() as u64, PAGE),
        };
        places.sections.push(SectionPlace { name: data.name.clone(), address });
        places.parts.push(Part { address, bytes });
    }
    for map in &object.maps {
        let address = places.take(MAP_BYTES, MAP_BYTES);
        places.maps.push(MapPlace { name: map.name.clone(), address });
    }
    for each in &object.outside {
        let address = match each.want {
            Want::Setting(of) => {
                let bytes = setting(&object.btf, of, kernel.setting(&each.name).unwrap_or(0));
                let address = places.take(bytes.len() as u64, 16);
                places.parts.push(Part { address, bytes });
                Some(address)
            }
            _ => None,
        };
        places.settings.push(address);
    }
    places
}

/// Where in the arena its variables are: at the end, as libbpf has it, so that none of them has the address 0 there.
fn place_in_arena(object: &Object, bytes: u64) -> u64 {
    let arena = object.maps.iter().find(|map| map.kind.name() == Some("arena"));
    let pages = arena.map_or(0, |map| map.entries.min(ARENA / PAGE));
    let needed = bytes.next_multiple_of(PAGE);
    (pages * PAGE).checked_sub(needed).filter(|&at| at > 0).unwrap_or(PAGE)
}

impl Places {
    fn take(&mut self, bytes: u64, alignment: u64) -> u64 {
        let address = self.end.next_multiple_of(alignment);
        self.end = address + bytes;
        address
    }
}

/// The bytes of a section, with values of the kernel's enums where variables stand for them.
fn fill_in(data: &Data, kernel: &Kernel) -> Vec<u8> {
    let mut bytes = data.bytes.clone();
    for variable in &data.variables {
        let Some(name) = variable.name.strip_prefix("__SCX_") else { continue };
        let value = kernel.enumerator(&format!("SCX_{name}")).unwrap_or(0).to_le_bytes();
        let from = usize::try_from(variable.offset).expect("it is inside");
        let size = usize::try_from(variable.size).expect("it is inside").min(value.len());
        bytes[from..from + size].copy_from_slice(&value[..size]);
    }
    bytes
}

/// A setting as a variable of this type has it; a text is empty.
fn setting(btf: &Btf, of: TypeId, value: u64) -> Vec<u8> {
    const LONGEST: u64 = 4096;
    let size = usize::try_from(btf.size(of).unwrap_or(0).min(LONGEST)).expect("it is small");
    let value = match btf.get(btf.resolve(of)).kind {
        Kind::Int { is_char: true, .. } => u64::from([b'n', b'y', b'm'][value.min(2) as usize]),
        Kind::Array { .. } => 0,
        _ => value,
    };
    let mut bytes = vec![0; size];
    bytes.iter_mut().zip(value.to_le_bytes()).for_each(|(to, byte)| *to = byte);
    bytes
}
