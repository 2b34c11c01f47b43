// SPDX-License-Identifier: GPL-2.0-only
//! The types of a kernel by their names.

use std::collections::{HashMap, HashSet};

use btf::{Btf, Kind, TypeId};

use super::names::essential;

/// The tag of a struct whose members are left out of a kernel's description.
pub const CUT: &str = "cut";

/// A kernel's types, found by name.
#[derive(Debug)]
pub struct Types {
    pub btf: Btf,
    by_name: HashMap<String, Vec<TypeId>>,
    cut: HashSet<TypeId>,
}

impl Types {
    pub fn new(btf: Btf) -> Self {
        let mut by_name: HashMap<String, Vec<TypeId>> = HashMap::new();
        for (id, each) in btf.iter().filter(|(_, each)| !each.name.is_empty()) {
            by_name.entry(essential(&each.name).to_owned()).or_default().push(id);
        }
        let tags = btf.iter().filter(|(_, each)| &*each.name == CUT);
        let cut = tags.filter_map(|(_, each)| match each.kind {
            Kind::DeclarationTag { on, component: None } => Some(on),
            _ => None,
        });
        Self { cut: cut.collect(), by_name, btf }
    }

    /// The types with this name, without flavours on both sides.
    pub fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = (TypeId, &'a btf::Type)> {
        let found = self.by_name.get(essential(name)).map_or(&[][..], Vec::as_slice);
        found.iter().map(|&id| (id, self.btf.get(id)))
    }

    /// Whether nothing can be said of the members of a struct.
    pub fn is_cut(&self, of: TypeId) -> bool {
        self.cut.contains(&of)
    }

    /// The types that one of an object can stand for: of its name and kind.
    pub fn candidates<'a>(&'a self, local: &'a Btf, root: TypeId) -> impl Iterator<Item = TypeId> {
        let own = local.get(root);
        self.named(&own.name)
            .filter(|(_, each)| {
                std::mem::discriminant(&each.kind) == std::mem::discriminant(&own.kind)
            })
            .map(|(id, _)| id)
    }
}
