// SPDX-License-Identifier: GPL-2.0-only
//! Writes types as the section `.BTF` has them.

use std::collections::HashMap;

use crate::types::{Btf, Kind, Linkage, Member, Type};

const HEADER: u32 = 24;

impl Btf {
    /// Types made by hand: the first has number 1, and each may name any of them.
    ///
    /// # Panics
    /// A type names a number that is not there.
    pub fn from_types(types: Vec<Type>) -> Self {
        let void = Type { name: "".into(), kind: Kind::Void };
        let made = Self { types: [vec![void], types].concat(), names: vec![0] };
        made.require_whole().expect("the caller gives all types");
        made
    }

    /// The bytes that `parse` reads the same types from.
    ///
    /// # Panics
    /// There is more of something than the format can count.
    pub fn write(&self) -> Vec<u8> {
        let mut writer = Writer { names: vec![0], known: HashMap::new(), words: Vec::new() };
        self.types[1..].iter().for_each(|each| writer.write(each));
        let length = u32::try_from(writer.words.len() * 4).expect("the format counts to 2^32");
        let names = u32::try_from(writer.names.len()).expect("the format counts to 2^32");
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        let header = [HEADER, 0, length, length, names];
        bytes.extend(header.iter().chain(&writer.words).flat_map(|word| word.to_le_bytes()));
        bytes.extend(writer.names);
        bytes
    }
}

struct Writer<'a> {
    names: Vec<u8>,
    known: HashMap<&'a str, u32>,
    words: Vec<u32>,
}

impl<'a> Writer<'a> {
    fn name(&mut self, name: &'a str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        *self.known.entry(name).or_insert_with(|| {
            let at = u32::try_from(self.names.len()).expect("the format counts to 2^32");
            self.names.extend(name.bytes().chain([0]));
            at
        })
    }

    fn head(&mut self, each: &'a Type, kind: u32, (count, flag): (usize, bool), size: u32) {
        let name = self.name(&each.name);
        let count = u32::try_from(count).ok().filter(|&count| count <= 0xffff);
        let count = count.expect("the format counts to 2^16");
        self.words.extend([name, u32::from(flag) << 31 | kind << 24 | count, size]);
    }

    fn write(&mut self, each: &'a Type) {
        const NONE: (usize, bool) = (0, false);
        match &each.kind {
            Kind::Void => unreachable!("only the first type is void"),
            Kind::Int { size, bits, is_signed, is_char, is_bool } => {
                self.head(each, 1, NONE, *size);
                let encoding = [is_signed, is_char, is_bool];
                let encoding = (0..).zip(encoding).map(|(bit, is)| u32::from(*is) << bit);
                self.words.push(encoding.sum::<u32>() << 24 | u32::from(*bits));
            }
            Kind::Pointer(of) => self.head(each, 2, NONE, of.0),
            Kind::Array { element, count } => {
                self.head(each, 3, NONE, 0);
                // The type of the index says nothing; the kernel wants an integer.
                self.words.extend([element.0, element.0, *count]);
            }
            Kind::Struct { size, members } => self.composite(each, 4, *size, members),
            Kind::Union { size, members } => self.composite(each, 5, *size, members),
            Kind::Enum { size, is_signed, values } => {
                let is_wide = *size > 4;
                self.head(each, if is_wide { 19 } else { 6 }, (values.len(), *is_signed), *size);
                for value in values {
                    let name = self.name(&value.name);
                    let [low, high] = halves(value.value);
                    self.words.extend([name, low]);
                    self.words.extend(is_wide.then_some(high));
                }
            }
            Kind::Forward { is_union } => self.head(each, 7, (0, *is_union), 0),
            Kind::Typedef(of) => self.head(each, 8, NONE, of.0),
            Kind::Volatile(of) => self.head(each, 9, NONE, of.0),
            Kind::Const(of) => self.head(each, 10, NONE, of.0),
            Kind::Restrict(of) => self.head(each, 11, NONE, of.0),
            Kind::Function { prototype, linkage } => {
                self.head(each, 12, (number(*linkage) as usize, false), prototype.0);
            }
            Kind::Prototype { returns, parameters } => {
                self.head(each, 13, (parameters.len(), false), returns.0);
                for parameter in parameters {
                    let name = self.name(&parameter.name);
                    self.words.extend([name, parameter.of.0]);
                }
            }
            Kind::Variable { of, linkage } => {
                self.head(each, 14, NONE, of.0);
                self.words.push(number(*linkage));
            }
            Kind::Section { size, variables } => {
                self.head(each, 15, (variables.len(), false), *size);
                let words = |each: &crate::types::Variable| [each.of.0, each.offset, each.size];
                self.words.extend(variables.iter().flat_map(words));
            }
            Kind::Float { size } => self.head(each, 16, NONE, *size),
            Kind::DeclarationTag { on, component } => {
                self.head(each, 17, NONE, on.0);
                self.words.push(component.unwrap_or(u32::MAX));
            }
            Kind::TypeTag(of) => self.head(each, 18, NONE, of.0),
        }
    }

    fn composite(&mut self, each: &'a Type, kind: u32, size: u32, members: &'a [Member]) {
        let has_bit_fields = members.iter().any(|member| member.width_bits.is_some());
        self.head(each, kind, (members.len(), has_bit_fields), size);
        for member in members {
            let name = self.name(&member.name);
            let width = u32::from(member.width_bits.unwrap_or(0)) << 24;
            self.words.extend([name, member.of.0, width | member.offset_bits]);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

fn number(linkage: Linkage) -> u32 {
    match linkage {
        Linkage::Static => 0,
        Linkage::Global => 1,
        Linkage::Extern => 2,
    }
}
