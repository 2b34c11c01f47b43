// SPDX-License-Identifier: GPL-2.0-only
//! The global variables of a BPF object: their places, types and tags.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use libbpf_rs::btf::types::{Array, DataSec, DeclTag, Int, IntEncoding, MemberAttr, Struct, Var};
use libbpf_rs::btf::{Btf, BtfKind, BtfType, TypeId};
use libbpf_rs::{HasSize, ReferencesType};

/// Deepest nesting of types that the kernel allows (kernel/bpf/btf.c, `MAX_RESOLVE_DEPTH`). libbpf
/// accepts a type that contains itself.
const DEEPEST: usize = 32;

/// Most members of one structure (`BTF_MAX_VLEN`).
const MOST_MEMBERS: usize = 0xffff;

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
    /// Whether only 0 and 1 are values of it.
    pub boolean: bool,
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

/// A variable that is a structure.
#[derive(Debug, Clone)]
pub struct Structure {
    pub name: String,
    /// The section that holds it, as in `Global`.
    pub section: String,
    /// Bytes from the start of the section.
    pub offset: usize,
    pub members: Vec<Member>,
}

impl Structure {
    /// Where the member `name` starts, in bytes from the start of the section.
    pub fn place(&self, name: &str) -> Option<usize> {
        let member = self.members.iter().find(|member| member.name == name)?;
        Some(self.offset + member.offset)
    }
}

impl Global {
    pub fn writable(&self) -> bool {
        !self.section.starts_with(".rodata")
    }

    /// The first element. None if it is not inside `section` or the number needs 65 bits.
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
            let Some((int, count)) = integers(var.referenced_type(), 0) else { continue };
            found.push(Global {
                name: text(var.name()),
                section: text(section.name()),
                offset: bytes(place.offset),
                width: int.size(),
                count,
                signed: matches!(int.encoding, IntEncoding::Signed),
                boolean: matches!(int.encoding, IntEncoding::Bool),
                tags: tags.of(var.type_id(), None),
            });
        }
    }
    found
}

/// The type of one element, and the number of them; None for other types.
fn integers(ty: BtfType<'_>, depth: usize) -> Option<(Int<'_>, usize)> {
    let ty = plain(ty)?;
    if let Ok(array) = Array::try_from(ty) {
        let element = (depth < DEEPEST).then(|| array.contained_type())?;
        let (int, _) = integers(element, depth + 1)?;
        return Some((int, array.capacity()));
    }
    let int = Int::try_from(ty).ok()?;
    (int.size() <= 8).then_some((int, 1))
}

/// `ty` without typedefs and modifiers. None if there is no end to them.
fn plain(ty: BtfType<'_>) -> Option<BtfType<'_>> {
    std::iter::successors(Some(ty), BtfType::next_type)
        .take(DEEPEST)
        .find(|ty| !ty.is_mod() && ty.kind() != BtfKind::Typedef)
}

/// The members of a variable that is a structure.
///
/// The variable is looked up in the first section whose name starts with `section_prefix`.
pub fn structure(btf: &Btf<'_>, section_prefix: &str, variable: &str) -> Option<Vec<Member>> {
    let var = variable_of(btf, section_prefix, variable)?;
    let structure = Struct::try_from(plain(var.referenced_type())?).ok()?;
    Some(members(btf, &structure))
}

/// The first variable in a data section that is the structure `type_name`.
pub fn variable_of_type(btf: &Btf<'_>, type_name: &str) -> Option<Structure> {
    for section in btf.type_by_kind::<DataSec>() {
        for place in section.iter() {
            let Some(var) = btf.type_by_id::<Var>(place.ty) else { continue };
            let structure = plain(var.referenced_type()).and_then(|ty| Struct::try_from(ty).ok());
            let Some(structure) = structure.filter(|found| text(found.name()) == type_name) else {
                continue;
            };
            let (name, section) = (text(var.name()), text(section.name()));
            let members = members(btf, &structure);
            return Some(Structure { name, section, offset: bytes(place.offset), members });
        }
    }
    None
}

/// The members of the value type of the map `name`.
pub fn map_value(btf: &Btf<'_>, name: &str) -> Option<Vec<Member>> {
    let map = variable_of(btf, ".maps", name)?;
    let definition = Struct::try_from(map.referenced_type()).ok()?;
    let value = definition.iter().find(|member| member.name == Some(OsStr::new("value")))?;
    let pointer: BtfType<'_> = btf.type_by_id(value.ty)?;
    let structure = Struct::try_from(plain(pointer.next_type()?)?).ok()?;
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

/// The members of `structure` and of structures inside it, with offsets from its start.
fn members(btf: &Btf<'_>, structure: &Struct<'_>) -> Vec<Member> {
    let mut found = Vec::new();
    add_members(&mut found, btf, &Tags::read(btf), structure, 0, 0);
    found
}

/// Adds the members of a structure at `start`.
fn add_members(
    found: &mut Vec<Member>,
    btf: &Btf<'_>,
    tags: &Tags,
    structure: &Struct<'_>,
    start: usize,
    depth: usize,
) {
    for (index, member) in (0..).zip(structure.iter()) {
        let MemberAttr::Normal { offset } = member.attr else { continue };
        if found.len() == MOST_MEMBERS {
            return;
        }
        let offset = start + bytes(offset) / 8;
        found.push(Member {
            name: text(member.name),
            offset,
            tags: tags.of(structure.type_id(), Some(index)),
        });
        let inner = btf.type_by_id::<BtfType<'_>>(member.ty).and_then(plain);
        if let Some(inner) = inner.and_then(|ty| Struct::try_from(ty).ok())
            && depth < DEEPEST
        {
            add_members(found, btf, tags, &inner, offset, depth + 1);
        }
    }
}

/// Converts a number of BTF, which always has 32 bits.
fn bytes(number: u32) -> usize {
    usize::try_from(number).expect("an address has 32 bits at least")
}

fn text(name: Option<&OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// Declaration tags by what they tag: a type, or one member of it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_btf::FakeBtf;

    #[test]
    fn a_type_that_refers_to_itself_is_not_an_integer() {
        let mut types = FakeBtf::default();
        types.typedef("endless", 1);
        types.variable(".data", "first", 1, 2);
        types.array(4);
        types.variable(".data", "second", 4, 5);
        types.integer("int", 4);
        types.array(7);
        types.variable(".data", "third", 8, 9);
        let found = types.with(globals);
        let found: Vec<_> = found.iter().map(|global| (&*global.name, global.count)).collect();
        assert_eq!(found, [("third", 2)]);
    }

    #[test]
    fn a_variable_is_found_by_its_type() {
        let mut types = FakeBtf::default();
        types.integer("int", 4);
        types.structure("wanted", &[("first", 1), ("second", 1)]);
        types.variable(".data", "number", 1, 3);
        assert!(types.with(|btf| variable_of_type(btf, "wanted").is_none()));
        types.variable(".data.own", "note", 2, 5);
        let found = types.with(|btf| variable_of_type(btf, "wanted")).unwrap();
        assert_eq!((&*found.name, &*found.section), ("note", ".data.own"));
        assert_eq!(found.place("second"), Some(found.offset + found.members[1].offset));
        assert_eq!(found.place("third"), None);
    }

    #[test]
    fn a_structure_inside_itself_is_read_to_an_end() {
        let mut types = FakeBtf::default();
        types.structure("endless", &[("one", 1), ("other", 1)]);
        types.variable(".struct_ops", "ops", 1, 2);
        let members = types.with(|btf| structure(btf, ".struct_ops", "ops")).unwrap();
        assert_eq!(members[0].name, "one");
        assert!(members.len() <= MOST_MEMBERS);
    }
}
