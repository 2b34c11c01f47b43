// SPDX-License-Identifier: GPL-2.0-only
//! Sections of variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use btf::{Btf, Kind, Linkage, TypeId};

use super::elf::{Elf, Section};
use crate::error::ObjectError;

/// What a section is for, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// What the program that loads the object may set, and nobody afterwards.
    Constants,
    Variables,
    /// Variables in the memory that BPF programs and others share.
    Arena,
    License,
}

/// A section of variables, and where each is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    pub name: String,
    pub purpose: Purpose,
    pub bytes: Vec<u8>,
    pub variables: Vec<Variable>,
    pub(super) section: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: Arc<str>,
    pub of: TypeId,
    pub offset: u64,
    pub size: u64,
    pub is_static: bool,
    /// Declaration tags.
    pub tags: Vec<Arc<str>>,
}

pub fn read(elf: &Elf<'_>, btf: &Btf) -> Result<Vec<Data>, ObjectError> {
    let mut found = Vec::new();
    let tags = tags(btf);
    for (number, section) in elf.sections.iter().enumerate() {
        let Some(purpose) = purpose(&section.name) else { continue };
        let bytes = if section.is_empty {
            vec![0; usize::try_from(section.size).expect("sizes are limited")]
        } else {
            section.bytes.to_vec()
        };
        let variables = variables(elf, btf, &tags, number, section)?;
        found.push(Data { name: section.name.clone(), purpose, bytes, variables, section: number });
    }
    Ok(found)
}

fn purpose(name: &str) -> Option<Purpose> {
    let is = |kind: &str| {
        name == kind || name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('.'))
    };
    match name {
        "license" => Some(Purpose::License),
        ".addr_space.1" => Some(Purpose::Arena),
        _ if is(".rodata") => Some(Purpose::Constants),
        _ if is(".data") || is(".bss") => Some(Purpose::Variables),
        _ => None,
    }
}

/// Declaration tags by what they are on.
type Tags = BTreeMap<TypeId, Vec<Arc<str>>>;

fn tags(btf: &Btf) -> Tags {
    let mut found = Tags::new();
    for each in btf.types() {
        if let Kind::DeclarationTag { on, component: None } = each.kind {
            found.entry(on).or_default().push(Arc::clone(&each.name));
        }
    }
    found
}

fn variables(
    elf: &Elf<'_>,
    btf: &Btf,
    tags: &Tags,
    number: usize,
    section: &Section<'_>,
) -> Result<Vec<Variable>, ObjectError> {
    // Texts have no types.
    let described = btf.named(&section.name).map(|(_, each)| &each.kind).next();
    let Some(Kind::Section { variables, .. }) = described else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for variable in variables {
        let each = btf.get(variable.of);
        let Kind::Variable { of, linkage } = each.kind else {
            return Err(ObjectError::section(
                &section.name,
                format!("{} is not a variable", each.name),
            ));
        };
        let is_static = linkage == Linkage::Static;
        // The compiler leaves the place of others to whatever reads the symbols.
        let offset = match elf.symbol_in(number, &each.name) {
            Some(symbol) if !is_static => symbol.offset,
            _ => variable.offset.into(),
        };
        let size = btf.size(of).unwrap_or(0);
        if offset.checked_add(size).is_none_or(|end| end > section.size) {
            let why = format!("{} of {size} bytes at {offset} is not inside", each.name);
            return Err(ObjectError::section(&section.name, why));
        }
        let name = Arc::clone(&each.name);
        let tags = tags.get(&variable.of).cloned().unwrap_or_default();
        found.push(Variable { name, of, offset, size, is_static, tags });
    }
    found.sort_by_key(|variable| variable.offset);
    Ok(found)
}
