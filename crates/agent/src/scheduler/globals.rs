// SPDX-License-Identifier: GPL-2.0-only
//! The global variables of a BPF object: where they are, what they are, what their tags say.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use libbpf_rs::btf::types::{Array, DataSec, DeclTag, Int, IntEncoding, MemberAttr, Struct, Var};
use libbpf_rs::btf::{Btf, BtfType, TypeId};
use libbpf_rs::{HasSize, ReferencesType};

/// An integer or an array of integers.
#[derive(Debug, Clone)]
pub struct Global {
    pub name: String,
    /// ".rodata", ".data", ".bss" or one of the object's own.
    pub section: String,
    /// Bytes from the start of the section.
    pub offset: usize,
    /// Bytes of one element.
    pub width: usize,
    pub count: usize,
    pub signed: bool,
    pub tags: Vec<String>,
}

/// A member of a structure.
#[derive(Debug, Clone)]
pub struct Member {
    pub name: String,
    /// Bytes from the start of the structure.
    pub offset: usize,
    pub tags: Vec<String>,
}

impl Global {
    pub fn writable(&self) -> bool {
        !self.section.starts_with(".rodata")
    }

    /// The first element. None if `section` is not this variable's or the number needs 65 bits.
    pub fn get(&self, section: &[u8]) -> Option<i64> {
        let bytes = section.get(self.offset..self.offset + self.width)?;
        let negative = self.signed && bytes.last()? & 0x80 != 0;
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide.get_mut(..self.width)?.copy_from_slice(bytes);
        let number = i64::from_le_bytes(wide);
        (negative || number >= 0).then_some(number)
    }

    /// Sets element `index`; false if it does not fit.
    pub fn set(&self, section: &mut [u8], index: usize, value: u64) -> bool {
        let start = self.offset + index * self.width;
        let Some(target) = section.get_mut(start..start + self.width) else { return false };
        target.copy_from_slice(&value.to_le_bytes()[..self.width]);
        index < self.count
    }
}

/// All integers and arrays of integers in the data sections of an object.
pub fn globals(btf: &Btf<'_>) -> Vec<Global> {
    let tags = Tags::read(btf);
    let mut found = Vec::new();
    for section in btf.type_by_kind::<DataSec>() {
        for place in section.iter() {
            let Some(var) = btf.type_by_id::<Var>(place.ty) else { continue };
            let Some((width, count, signed)) = integers(var.referenced_type()) else { continue };
            found.push(Global {
                name: text(var.name()),
                section: text(section.name()),
                offset: place.offset as usize,
                width,
                count,
                signed,
                tags: tags.of(var.type_id(), None),
            });
        }
    }
    found
}

/// Width in bytes, number of elements, signedness; None for other types.
fn integers(ty: BtfType<'_>) -> Option<(usize, usize, bool)> {
    let ty = ty.skip_mods_and_typedefs();
    if let Ok(array) = Array::try_from(ty) {
        let (width, _, signed) = integers(array.contained_type())?;
        return Some((width, array.capacity(), signed));
    }
    let int = Int::try_from(ty).ok()?;
    let width = int.size();
    (width <= 8).then_some((width, 1, matches!(int.encoding, IntEncoding::Signed)))
}

/// The members of the structure that a variable is.
///
/// The section is the first whose name starts with `section_prefix`.
pub fn structure(btf: &Btf<'_>, section_prefix: &str, variable: &str) -> Option<Vec<Member>> {
    let var = variable_of(btf, section_prefix, variable)?;
    let structure = Struct::try_from(var.referenced_type().skip_mods_and_typedefs()).ok()?;
    Some(members(btf, &structure))
}

/// The members of the value type of the map `name`.
pub fn map_value(btf: &Btf<'_>, name: &str) -> Option<Vec<Member>> {
    let map = variable_of(btf, ".maps", name)?;
    let definition = Struct::try_from(map.referenced_type()).ok()?;
    let value = definition.iter().find(|member| member.name == Some(OsStr::new("value")))?;
    let pointer: BtfType<'_> = btf.type_by_id(value.ty)?;
    let structure = Struct::try_from(pointer.next_type()?.skip_mods_and_typedefs()).ok()?;
    Some(members(btf, &structure))
}

/// The tags of all variables in sections whose name starts with `section_prefix`.
pub fn variable_tags(btf: &Btf<'_>, section_prefix: &str) -> Vec<String> {
    let tags = Tags::read(btf);
    btf.type_by_kind::<DataSec>()
        .filter(|section| text(section.name()).starts_with(section_prefix))
        .flat_map(|section| section.iter().map(|place| place.ty).collect::<Vec<_>>())
        .flat_map(|variable| tags.of(variable, None))
        .collect()
}

fn variable_of<'btf>(btf: &'btf Btf<'_>, section_prefix: &str, name: &str) -> Option<Var<'btf>> {
    btf.type_by_kind::<DataSec>()
        .filter(|section| text(section.name()).starts_with(section_prefix))
        .flat_map(|section| section.iter().map(|place| place.ty).collect::<Vec<_>>())
        .filter_map(|id| btf.type_by_id::<Var>(id))
        .find(|var| text(var.name()) == name)
}

/// Those of structures inside it too, with offsets from its start.
fn members(btf: &Btf<'_>, structure: &Struct<'_>) -> Vec<Member> {
    let tags = Tags::read(btf);
    let mut found = Vec::new();
    for (index, member) in structure.iter().enumerate() {
        let MemberAttr::Normal { offset } = member.attr else { continue };
        let offset = offset as usize / 8;
        found.push(Member {
            name: text(member.name),
            offset,
            tags: tags.of(structure.type_id(), Some(index as u32)),
        });
        let inner = btf.type_by_id::<BtfType<'_>>(member.ty);
        let inner = inner.and_then(|ty| Struct::try_from(ty.skip_mods_and_typedefs()).ok());
        if let Some(inner) = inner {
            let inside = members(btf, &inner);
            found.extend(inside.into_iter().map(|m| Member { offset: offset + m.offset, ..m }));
        }
    }
    found
}

fn text(name: Option<&OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// Declaration tags by what they are on: a type, or one member of it.
struct Tags(BTreeMap<(u32, Option<u32>), Vec<String>>);

impl Tags {
    fn read(btf: &Btf<'_>) -> Self {
        let mut tags: BTreeMap<_, Vec<String>> = BTreeMap::new();
        for tag in btf.type_by_kind::<DeclTag>() {
            let target = (u32::from(tag.referenced_type().type_id()), tag.component_index());
            tags.entry(target).or_default().push(text(tag.name()));
        }
        Self(tags)
    }

    fn of(&self, id: TypeId, member: Option<u32>) -> Vec<String> {
        self.0.get(&(u32::from(id), member)).cloned().unwrap_or_default()
    }
}
