// SPDX-License-Identifier: GPL-2.0-only
//! The section `.BTF.ext` of an object: the functions and source lines of its instructions, and
//! what they ask of a kernel's types.

use crate::bytes::{Bytes, text};
use crate::error::BtfError;
use crate::reader::header;
use crate::types::{Btf, TypeId};

/// Bytes of the header up to the relocations, which old compilers leave out.
const WITHOUT_RELOCATIONS: u32 = 24;
const WITH_RELOCATIONS: u32 = 32;
/// How far a column's number lies from the bits of the line's.
const LINE_SHIFT: u32 = 10;

/// What is said of the instructions of an object, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extension {
    pub functions: Vec<FunctionInfo>,
    pub lines: Vec<LineInfo>,
    pub relocations: Vec<CoreRelocation>,
}

/// A place among the instructions: a section, and bytes from its beginning.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub section: String,
    pub offset: u32,
}

/// Where a function begins, and its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionInfo {
    pub place: Place,
    pub of: TypeId,
}

/// The line of the source that instructions come from, from here to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineInfo {
    pub place: Place,
    pub file: String,
    pub text: String,
    pub line: u32,
    pub column: u32,
}

/// Something that an instruction has to know of a kernel's type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreRelocation {
    pub place: Place,
    /// A type of the object.
    pub of: TypeId,
    /// The way into the type: numbers with colons between them.
    pub access: String,
    pub kind: CoreKind,
}

/// What is asked (include/uapi/linux/bpf.h, `enum bpf_core_relo_kind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreKind {
    FieldOffset,
    FieldSize,
    FieldExists,
    FieldSigned,
    FieldShiftLeft,
    FieldShiftRight,
    TypeIdLocal,
    TypeIdTarget,
    TypeExists,
    TypeSize,
    EnumeratorExists,
    EnumeratorValue,
    TypeMatches,
}

impl CoreKind {
    const ALL: [Self; 13] = [
        Self::FieldOffset,
        Self::FieldSize,
        Self::FieldExists,
        Self::FieldSigned,
        Self::FieldShiftLeft,
        Self::FieldShiftRight,
        Self::TypeIdLocal,
        Self::TypeIdTarget,
        Self::TypeExists,
        Self::TypeSize,
        Self::EnumeratorExists,
        Self::EnumeratorValue,
        Self::TypeMatches,
    ];
}

impl Extension {
    /// Reads what comes with the types `btf`.
    ///
    /// # Errors
    /// The bytes are something else, cut off, or refer to what is not there.
    pub fn parse(bytes: &[u8], btf: &Btf) -> Result<Self, BtfError> {
        let (length, mut header) = header(bytes)?;
        if length < WITHOUT_RELOCATIONS {
            return Err(BtfError::Header { what: "its length" });
        }
        let body = bytes.get(length as usize..).ok_or(BtfError::Short { at: bytes.len() })?;
        let mut part = || -> Result<Bytes<'_>, BtfError> {
            let (offset, length) = (header.u32()?, header.u32()?);
            Bytes::part(body, offset, length)
        };
        let (functions, lines) = (part()?, part()?);
        let relocations = if length >= WITH_RELOCATIONS { part()? } else { Bytes::new(&[]) };
        Ok(Self {
            functions: records(functions, btf, 8, |place, record| {
                Ok(FunctionInfo { place, of: known(btf, record.u32()?)? })
            })?,
            lines: records(lines, btf, 16, |place, record| {
                let (file, text, number) = (record.u32()?, record.u32()?, record.u32()?);
                Ok(LineInfo {
                    place,
                    file: name(btf, file)?,
                    text: name(btf, text)?,
                    line: number >> LINE_SHIFT,
                    column: number & ((1 << LINE_SHIFT) - 1),
                })
            })?,
            relocations: records(relocations, btf, 16, |place, record| {
                let (of, access, kind) = (record.u32()?, record.u32()?, record.u32()?);
                let of = known(btf, of)?;
                let known = CoreKind::ALL.get(kind as usize).copied();
                let kind = known.ok_or(BtfError::Dangling {
                    id: of.0,
                    what: "the kind of relocation",
                    number: kind,
                })?;
                Ok(CoreRelocation { place, of, access: name(btf, access)?, kind })
            })?,
        })
    }
}

/// Reads the records of each section of instructions. Newer compilers may make them longer than the `least` bytes that
/// are read here.
fn records<Record>(
    mut bytes: Bytes<'_>,
    btf: &Btf,
    least: u32,
    mut read: impl FnMut(Place, &mut Bytes<'_>) -> Result<Record, BtfError>,
) -> Result<Vec<Record>, BtfError> {
    let mut found = Vec::new();
    if bytes.is_empty() {
        return Ok(found);
    }
    let size = bytes.u32()?;
    if size < least {
        return Err(BtfError::Header { what: "the size of its records" });
    }
    while !bytes.is_empty() {
        let section = name(btf, bytes.u32()?)?;
        for _ in 0..bytes.u32()? {
            let mut record = Bytes::new(bytes.take(size as usize)?);
            let place = Place { section: section.clone(), offset: record.u32()? };
            found.push(read(place, &mut record)?);
        }
    }
    Ok(found)
}

fn known(btf: &Btf, number: u32) -> Result<TypeId, BtfError> {
    match btf.types.get(number as usize) {
        Some(_) => Ok(TypeId(number)),
        None => Err(BtfError::Dangling { id: 0, what: "the type", number }),
    }
}

fn name(btf: &Btf, offset: u32) -> Result<String, BtfError> {
    text(&btf.names, offset).map(str::to_owned).ok_or(BtfError::Dangling {
        id: 0,
        what: "the name at",
        number: offset,
    })
}
