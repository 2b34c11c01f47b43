// SPDX-License-Identifier: GPL-2.0-only
//! Tables of functions and values that an object hands to the kernel, such as a `struct sched_ext_ops`. They are read
//! through the object's own types, so that the layout of any version is understood.

use btf::{Btf, Kind};

use super::code::Code;
use super::elf::Elf;
use crate::error::ObjectError;

/// Sections with such tables.
const SECTIONS: [&str; 4] =
    [".struct_ops", ".struct_ops.link", "?.struct_ops", "?.struct_ops.link"];

/// A table, with what each member is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operations {
    /// The name of the variable.
    pub name: String,
    /// The kernel's name of the struct, with what follows three underscores.
    pub of: String,
    pub members: Vec<(String, Value)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A function of the object, by its name; None where the kernel does without.
    Function(Option<String>),
    /// The bytes of anything else.
    Bytes(Vec<u8>),
}

impl Operations {
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// A member that is a text; what is not UTF-8 is replaced.
    pub fn text(&self, name: &str) -> Option<String> {
        let Value::Bytes(bytes) = self.member(name)? else { return None };
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// A member that is a number of up to eight bytes.
    pub fn number(&self, name: &str) -> Option<u64> {
        let Value::Bytes(bytes) = self.member(name)? else { return None };
        let mut all = [0; 8];
        all.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(all))
    }
}

pub fn read(elf: &Elf<'_>, btf: &Btf, code: &[Code]) -> Result<Vec<Operations>, ObjectError> {
    let mut found = Vec::new();
    for name in SECTIONS {
        let Some((section, of)) = elf.find(name) else { continue };
        let wrong = |why: String| ObjectError::section(name, why);
        let Some(Kind::Section { variables, .. }) =
            btf.named(name).map(|(_, each)| &each.kind).next()
        else {
            return Err(wrong("it has no types".to_owned()));
        };
        for variable in variables {
            let each = btf.get(variable.of);
            let Kind::Variable { of: kind, .. } = each.kind else {
                return Err(wrong(format!("{} is not a variable", each.name)));
            };
            let table = btf.get(btf.resolve(kind));
            let Kind::Struct { members, .. } = &table.kind else {
                return Err(wrong(format!("{} is not a struct", each.name)));
            };
            let symbol = elf.symbol_in(section, &each.name);
            let start = symbol.map_or(variable.offset.into(), |symbol| symbol.offset);
            let members = members.iter().map(|member| {
                let at = start.checked_add(u64::from(member.offset_bits / 8));
                let at = at.ok_or_else(|| wrong(format!("{} is not inside", member.name)))?;
                let value = if is_function(btf, member.of) {
                    let relocation = of.relocations.iter().find(|each| each.offset == at);
                    let function =
                        relocation.map(|relocation| function(elf, code, relocation.symbol));
                    Value::Function(
                        function
                            .transpose()
                            .map_err(|why| wrong(format!("{}: {why}", member.name)))?,
                    )
                } else {
                    let size = btf.size(member.of).unwrap_or(0);
                    let bytes = slice(of.bytes, at, size);
                    Value::Bytes(
                        bytes
                            .ok_or_else(|| wrong(format!("{} is not inside", member.name)))?
                            .to_vec(),
                    )
                };
                Ok((member.name.to_string(), value))
            });
            let members = members.collect::<Result<Vec<_>, ObjectError>>()?;
            found.push(Operations {
                name: each.name.to_string(),
                of: table.name.to_string(),
                members,
            });
        }
    }
    Ok(found)
}

fn is_function(btf: &Btf, of: btf::TypeId) -> bool {
    let Kind::Pointer(to) = btf.get(btf.resolve(of)).kind else { return false };
    matches!(btf.get(btf.resolve(to)).kind, Kind::Prototype { .. })
}

fn slice(bytes: &[u8], at: u64, size: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(at).ok()?..usize::try_from(at.checked_add(size)?).ok()?)
}

/// The name of the function that a symbol is.
fn function(elf: &Elf<'_>, code: &[Code], symbol: usize) -> Result<String, String> {
    let symbol = &elf.symbols[symbol];
    let known =
        code.iter().flat_map(|code| &code.functions).find(|function| function.name == symbol.name);
    known
        .map(|function| function.name.clone())
        .ok_or_else(|| format!("{} is not a function", symbol.name))
}
