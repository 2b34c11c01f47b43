// SPDX-License-Identifier: GPL-2.0-only
//! Reads the section `.BTF`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bytes::{Bytes, text};
use crate::error::BtfError;
use crate::types::{Btf, Enumerator, Kind, Linkage, Member, Parameter, Type, TypeId, Variable};

const MAGIC: u16 = 0xeb9f;
const VERSION: u8 = 1;
/// Bytes of the header that every version has.
const LEAST_HEADER: u32 = 24;
/// Bytes of a type's beginning.
const TYPE_BYTES: usize = 12;

/// What the header of `.BTF` or `.BTF.ext` begins with: the length of the header, and what follows it.
pub fn header(bytes: &[u8]) -> Result<(u32, Bytes<'_>), BtfError> {
    let mut header = Bytes::new(bytes);
    if header.is_empty() {
        return Err(BtfError::Missing);
    }
    match header.u16()? {
        MAGIC => {}
        magic if magic == MAGIC.swap_bytes() => return Err(BtfError::Foreign),
        _ => return Err(BtfError::Header { what: "its magic number" }),
    }
    let (version, _flags) = (header.take(1)?[0], header.take(1)?);
    if version != VERSION {
        return Err(BtfError::Header { what: "its version" });
    }
    Ok((header.u32()?, header))
}

impl Btf {
    /// Reads types.
    ///
    /// # Errors
    /// The bytes are something else, cut off, or refer to what is not there.
    pub fn parse(bytes: &[u8]) -> Result<Self, BtfError> {
        let (length, mut header) = header(bytes)?;
        if length < LEAST_HEADER {
            return Err(BtfError::Header { what: "its length" });
        }
        let [types_at, types_length, names_at, names_length] =
            [header.u32()?, header.u32()?, header.u32()?, header.u32()?];
        let body = bytes.get(length as usize..).ok_or(BtfError::Short { at: bytes.len() })?;
        let table = Bytes::part(body, names_at, names_length)?;
        let table = table.take_all();
        let mut names = Names { table, known: HashMap::new() };
        let bytes = Bytes::part(body, types_at, types_length)?;
        let mut reader = Reader { names: &mut names, bytes, id: 0 };
        let mut types = Vec::with_capacity(reader.bytes.left() / TYPE_BYTES + 1);
        types.push(Type { name: Arc::from(""), kind: Kind::Void });
        while !reader.bytes.is_empty() {
            reader.id += 1;
            types.push(reader.read()?);
        }
        let read = Self { types, names: table.to_vec() };
        read.require_whole()?;
        Ok(read)
    }

    /// Requires that every number of a type is one that is there.
    pub(crate) fn require_whole(&self) -> Result<(), BtfError> {
        for (id, each) in (0_u32..).zip(&self.types) {
            for TypeId(number) in each.kind.references() {
                if self.types.get(number as usize).is_none() {
                    return Err(BtfError::Dangling { id, what: "the type", number });
                }
            }
        }
        Ok(())
    }
}

/// The names of types, each kept once.
struct Names<'a> {
    table: &'a [u8],
    known: HashMap<u32, Arc<str>>,
}

impl Names<'_> {
    fn get(&mut self, id: u32, offset: u32) -> Result<Arc<str>, BtfError> {
        if let Some(known) = self.known.get(&offset) {
            return Ok(Arc::clone(known));
        }
        let found = text(self.table, offset);
        let name: Arc<str> =
            found.ok_or(BtfError::Dangling { id, what: "the name at", number: offset })?.into();
        self.known.insert(offset, Arc::clone(&name));
        Ok(name)
    }
}

struct Reader<'a, 'n> {
    names: &'n mut Names<'a>,
    bytes: Bytes<'a>,
    id: u32,
}

impl Reader<'_, '_> {
    fn name(&mut self) -> Result<Arc<str>, BtfError> {
        let offset = self.bytes.u32()?;
        self.names.get(self.id, offset)
    }

    fn id(&mut self) -> Result<TypeId, BtfError> {
        self.bytes.u32().map(TypeId)
    }

    fn read(&mut self) -> Result<Type, BtfError> {
        let name = self.name()?;
        let (info, size) = (self.bytes.u32()?, self.bytes.u32()?);
        let (count, kind, flag) = (info & 0xffff, info >> 24 & 0x1f, info >> 31 == 1);
        let of = TypeId(size);
        let kind = match kind {
            1 => self.int(size)?,
            2 => Kind::Pointer(of),
            3 => self.array()?,
            4 => Kind::Struct { size, members: self.members(count, flag)? },
            5 => Kind::Union { size, members: self.members(count, flag)? },
            6 => Kind::Enum { size, is_signed: flag, values: self.values(count, flag, false)? },
            7 => Kind::Forward { is_union: flag },
            8 => Kind::Typedef(of),
            9 => Kind::Volatile(of),
            10 => Kind::Const(of),
            11 => Kind::Restrict(of),
            12 => Kind::Function { prototype: of, linkage: self.linkage(count)? },
            13 => Kind::Prototype { returns: of, parameters: self.parameters(count)? },
            14 => {
                let linkage = self.bytes.u32()?;
                Kind::Variable { of, linkage: self.linkage(linkage)? }
            }
            15 => Kind::Section { size, variables: self.variables(count)? },
            16 => Kind::Float { size },
            17 => {
                let component = self.bytes.u32()?;
                Kind::DeclarationTag {
                    on: of,
                    component: (component != u32::MAX).then_some(component),
                }
            }
            18 => Kind::TypeTag(of),
            19 => Kind::Enum { size, is_signed: flag, values: self.values(count, flag, true)? },
            kind => return Err(BtfError::UnknownKind { id: self.id, kind }),
        };
        Ok(Type { name, kind })
    }

    fn int(&mut self, size: u32) -> Result<Kind, BtfError> {
        let about = self.bytes.u32()?;
        let encoding = about >> 24 & 0xf;
        let bits = u8::try_from(about & 0xff).expect("it has eight bits");
        Ok(Kind::Int {
            size,
            bits,
            is_signed: encoding & 1 != 0,
            is_char: encoding & 2 != 0,
            is_bool: encoding & 4 != 0,
        })
    }

    fn array(&mut self) -> Result<Kind, BtfError> {
        let (element, _index, count) = (self.id()?, self.id()?, self.bytes.u32()?);
        Ok(Kind::Array { element, count })
    }

    fn members(&mut self, count: u32, has_bit_fields: bool) -> Result<Vec<Member>, BtfError> {
        (0..count)
            .map(|_| {
                let (name, of, offset) = (self.name()?, self.id()?, self.bytes.u32()?);
                let width = u8::try_from(offset >> 24).expect("it has eight bits");
                let is_bit_field = has_bit_fields && width != 0;
                Ok(Member {
                    name,
                    of,
                    offset_bits: if has_bit_fields { offset & 0x00ff_ffff } else { offset },
                    width_bits: is_bit_field.then_some(width),
                })
            })
            .collect()
    }

    fn values(
        &mut self,
        count: u32,
        is_signed: bool,
        is_wide: bool,
    ) -> Result<Vec<Enumerator>, BtfError> {
        (0..count)
            .map(|_| {
                let (name, low) = (self.name()?, self.bytes.u32()?);
                let value = match (is_wide, is_signed) {
                    (true, _) => u64::from(self.bytes.u32()?) << 32 | u64::from(low),
                    (false, true) => i64::from(low.cast_signed()).cast_unsigned(),
                    (false, false) => low.into(),
                };
                Ok(Enumerator { name, value })
            })
            .collect()
    }

    fn parameters(&mut self, count: u32) -> Result<Vec<Parameter>, BtfError> {
        (0..count).map(|_| Ok(Parameter { name: self.name()?, of: self.id()? })).collect()
    }

    fn variables(&mut self, count: u32) -> Result<Vec<Variable>, BtfError> {
        (0..count)
            .map(|_| {
                let (of, offset, size) = (self.id()?, self.bytes.u32()?, self.bytes.u32()?);
                Ok(Variable { of, offset, size })
            })
            .collect()
    }

    fn linkage(&self, number: u32) -> Result<Linkage, BtfError> {
        match number {
            0 => Ok(Linkage::Static),
            1 => Ok(Linkage::Global),
            2 => Ok(Linkage::Extern),
            _ => Err(BtfError::Dangling { id: self.id, what: "the linkage", number }),
        }
    }
}
