// SPDX-License-Identifier: GPL-2.0-only
//! What an object wants from the kernel by name.

use std::sync::Arc;

use btf::{Btf, Kind, Linkage, TypeId};

use super::elf::Elf;
use crate::error::ObjectError;

/// Something that the object uses and does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    pub name: Arc<str>,
    pub want: Want,
    /// Whether the object does without it.
    pub is_weak: bool,
    pub(super) symbol: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// A function of the kernel, with its prototype.
    Function(TypeId),
    /// A variable of the kernel; without a type it is an address.
    Variable(TypeId),
    /// An option of the kernel's configuration, or its version.
    Setting(TypeId),
}

pub fn read(elf: &Elf<'_>, btf: &Btf) -> Result<Vec<Outside>, ObjectError> {
    let mut found = Vec::new();
    for (symbol, each) in elf.symbols.iter().enumerate() {
        if !each.is_outside || each.name.is_empty() {
            continue;
        }
        let want = btf.named(&each.name).find_map(|(id, named)| want(btf, id, &named.kind));
        let Some(want) = want else {
            return Err(ObjectError::section(
                ".BTF",
                format!("nothing is said of {}, which is outside", each.name),
            ));
        };
        found.push(Outside {
            name: each.name.as_str().into(),
            want,
            is_weak: each.is_weak,
            symbol,
        });
    }
    Ok(found)
}

fn want(btf: &Btf, id: TypeId, kind: &Kind) -> Option<Want> {
    match kind {
        Kind::Function { prototype, linkage: Linkage::Extern } => Some(Want::Function(*prototype)),
        Kind::Variable { of, linkage: Linkage::Extern } => {
            Some(if is_in(btf, id, ".kconfig") { Want::Setting(*of) } else { Want::Variable(*of) })
        }
        _ => None,
    }
}

fn is_in(btf: &Btf, id: TypeId, section: &str) -> bool {
    btf.named(section).any(|(_, each)| match &each.kind {
        Kind::Section { variables, .. } => variables.iter().any(|variable| variable.of == id),
        _ => false,
    })
}
