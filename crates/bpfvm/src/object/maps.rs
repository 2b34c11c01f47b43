// SPDX-License-Identifier: GPL-2.0-only
//! Maps, which an object describes by the types of variables in the section `.maps`.

use btf::{Btf, Kind, Member, TypeId};

use super::elf::Elf;
use crate::error::ObjectError;

const SECTION: &str = ".maps";

/// A map as the object asks for it; what it leaves open is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    pub name: String,
    pub kind: MapKind,
    pub key: Shape,
    pub value: Shape,
    pub entries: u64,
    pub flags: u64,
    pub extra: u64,
    /// What its values are, if they are maps.
    pub inner: Option<Box<Self>>,
    /// The names of the maps or functions that are in it from the start.
    pub first: Vec<String>,
    /// Where it stands in the section.
    pub offset: u64,
}

impl Map {
    /// A map of which nothing else is said.
    pub fn new(name: &str, kind: MapKind) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            key: Shape::default(),
            value: Shape::default(),
            entries: 0,
            flags: 0,
            extra: 0,
            inner: None,
            first: Vec::new(),
            offset: 0,
        }
    }
}

/// The size of keys or values in bytes, and their type if it is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    pub size: u64,
    pub of: Option<TypeId>,
}

/// The number of a kind of map (include/uapi/linux/bpf.h, `enum bpf_map_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MapKind(pub u64);

impl MapKind {
    /// By their numbers.
    const NAMES: [&str; 35] = [
        "unspecified",
        "hash",
        "array",
        "prog_array",
        "perf_event_array",
        "percpu_hash",
        "percpu_array",
        "stack_trace",
        "cgroup_array",
        "lru_hash",
        "lru_percpu_hash",
        "lpm_trie",
        "array_of_maps",
        "hash_of_maps",
        "devmap",
        "sockmap",
        "cpumap",
        "xskmap",
        "sockhash",
        "cgroup_storage_deprecated",
        "reuseport_sockarray",
        "percpu_cgroup_storage",
        "queue",
        "stack",
        "sk_storage",
        "devmap_hash",
        "struct_ops",
        "ringbuf",
        "inode_storage",
        "task_storage",
        "bloom_filter",
        "user_ringbuf",
        "cgroup_storage",
        "arena",
        "insn_array",
    ];

    /// The kernel's name of it, None for a number that is not known here.
    pub fn name(self) -> Option<&'static str> {
        usize::try_from(self.0).ok().and_then(|number| Self::NAMES.get(number).copied())
    }
}

pub fn read(elf: &Elf<'_>, btf: &Btf) -> Result<Vec<Map>, ObjectError> {
    let Some((section, _)) = elf.find(SECTION) else { return Ok(Vec::new()) };
    let Some(Kind::Section { variables, .. }) =
        btf.named(SECTION).map(|(_, each)| &each.kind).next()
    else {
        return Err(ObjectError::section(SECTION, "it has no types"));
    };
    let mut found = Vec::new();
    for variable in variables {
        let each = btf.get(variable.of);
        let symbol = elf.symbol_in(section, &each.name).ok_or_else(|| {
            ObjectError::section(SECTION, format!("nothing is said where {} is", each.name))
        })?;
        let Kind::Variable { of, .. } = each.kind else {
            return Err(ObjectError::section(SECTION, format!("{} is not a variable", each.name)));
        };
        let mut map = describe(btf, &each.name, of)?;
        map.offset = symbol.offset;
        let members = members(btf, &each.name, of)?;
        if let Some(values) = members.iter().find(|member| &*member.name == "values") {
            map.first = list_first(elf, section, symbol.offset + u64::from(values.offset_bits / 8));
        }
        found.push(map);
    }
    Ok(found)
}

/// The names of what a table that begins at `from` points to.
fn list_first(elf: &Elf<'_>, section: usize, from: u64) -> Vec<String> {
    let mut relocations = elf.sections[section].relocations.clone();
    relocations.sort_by_key(|each| each.offset);
    let mut next = from;
    let mut names = Vec::new();
    for each in relocations.iter().skip_while(|each| each.offset < from) {
        if each.offset != next {
            break;
        }
        next += 8;
        names.push(elf.symbols[each.symbol].name.clone());
    }
    names
}

fn members<'a>(btf: &'a Btf, name: &str, of: TypeId) -> Result<&'a [Member], ObjectError> {
    match &btf.get(btf.resolve(of)).kind {
        Kind::Struct { members, .. } => Ok(members),
        _ => Err(ObjectError::section(SECTION, format!("{name} is not a struct"))),
    }
}

fn describe(btf: &Btf, name: &str, of: TypeId) -> Result<Map, ObjectError> {
    let mut map = Map::new(name, MapKind(0));
    for member in members(btf, name, of)? {
        let wrong = |why: &str| {
            ObjectError::section(
                SECTION,
                format!("{name} says {} by something else than {why}", member.name),
            )
        };
        let number = || number(btf, member.of).ok_or_else(|| wrong("a number"));
        match &*member.name {
            "type" => map.kind = MapKind(number()?),
            "max_entries" => map.entries = number()?,
            "map_flags" => map.flags = number()?,
            "map_extra" => map.extra = number()?,
            "key_size" => map.key.size = number()?,
            "value_size" => map.value.size = number()?,
            "key" => map.key = shape(btf, member.of).ok_or_else(|| wrong("a type with a size"))?,
            "value" => {
                map.value = shape(btf, member.of).ok_or_else(|| wrong("a type with a size"))?
            }
            "values" => map.inner = inner(btf, name, member.of)?.map(Box::new),
            // How it is shared with other programs does not change what it holds.
            "pinning" | "numa_node" => {}
            other => {
                return Err(ObjectError::section(
                    SECTION,
                    format!("{name} says {other}, which is not known here"),
                ));
            }
        }
    }
    Ok(map)
}

/// A number that is the length of an array which is pointed to, or the value of an enumerator.
fn number(btf: &Btf, of: TypeId) -> Option<u64> {
    match &btf.get(btf.resolve(of)).kind {
        Kind::Pointer(to) => match btf.get(btf.resolve(*to)).kind {
            Kind::Array { count, .. } => Some(count.into()),
            _ => None,
        },
        Kind::Enum { values, .. } => values.first().map(|value| value.value),
        _ => None,
    }
}

fn shape(btf: &Btf, of: TypeId) -> Option<Shape> {
    let Kind::Pointer(to) = btf.get(btf.resolve(of)).kind else { return None };
    Some(Shape { size: btf.size(to)?, of: Some(to) })
}

/// What maps in a map are; None if they are functions.
fn inner(btf: &Btf, name: &str, of: TypeId) -> Result<Option<Map>, ObjectError> {
    let wrong = || {
        ObjectError::section(SECTION, format!("{name} has values that are not a list of pointers"))
    };
    let Kind::Array { element, .. } = btf.get(btf.resolve(of)).kind else { return Err(wrong()) };
    let Kind::Pointer(to) = btf.get(btf.resolve(element)).kind else { return Err(wrong()) };
    let Kind::Struct { members, .. } = &btf.get(btf.resolve(to)).kind else { return Ok(None) };
    // Maps in maps in maps do not exist; without this a type that holds itself has no end.
    if members.iter().any(|member| &*member.name == "values") {
        return Err(ObjectError::section(SECTION, format!("{name} has maps in maps in maps")));
    }
    describe(btf, &format!("{name}.inner"), to).map(Some)
}
