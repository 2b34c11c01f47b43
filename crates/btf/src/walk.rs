// SPDX-License-Identifier: GPL-2.0-only
//! Ways from one type to others.

use crate::types::{Btf, Kind, Type, TypeId};

/// More modifiers, or arrays of arrays, than any type has: such a chain is a circle.
const LONGEST: usize = 64;

/// Bytes of a pointer.
const POINTER: u64 = 8;

impl Kind {
    /// The types that it is made of.
    pub fn references(&self) -> Vec<TypeId> {
        match self {
            Self::Void
            | Self::Int { .. }
            | Self::Enum { .. }
            | Self::Forward { .. }
            | Self::Float { .. } => vec![],
            Self::Pointer(of)
            | Self::Typedef(of)
            | Self::Volatile(of)
            | Self::Const(of)
            | Self::Restrict(of)
            | Self::TypeTag(of)
            | Self::Array { element: of, .. }
            | Self::Function { prototype: of, .. }
            | Self::Variable { of, .. }
            | Self::DeclarationTag { on: of, .. } => vec![*of],
            Self::Struct { members, .. } | Self::Union { members, .. } => {
                members.iter().map(|member| member.of).collect()
            }
            Self::Prototype { returns, parameters } => {
                parameters.iter().map(|parameter| parameter.of).chain([*returns]).collect()
            }
            Self::Section { variables, .. } => {
                variables.iter().map(|variable| variable.of).collect()
            }
        }
    }
}

impl Kind {
    /// Returns the kind made of the types whose numbers `number` gives for its own.
    #[must_use]
    pub fn renumbered(&self, number: impl Fn(TypeId) -> TypeId) -> Self {
        let mut kind = self.clone();
        match &mut kind {
            Self::Void
            | Self::Int { .. }
            | Self::Enum { .. }
            | Self::Forward { .. }
            | Self::Float { .. } => {}
            Self::Pointer(of)
            | Self::Typedef(of)
            | Self::Volatile(of)
            | Self::Const(of)
            | Self::Restrict(of)
            | Self::TypeTag(of)
            | Self::Array { element: of, .. }
            | Self::Function { prototype: of, .. }
            | Self::Variable { of, .. }
            | Self::DeclarationTag { on: of, .. } => *of = number(*of),
            Self::Struct { members, .. } | Self::Union { members, .. } => {
                members.iter_mut().for_each(|member| member.of = number(member.of));
            }
            Self::Prototype { returns, parameters } => {
                parameters.iter_mut().for_each(|parameter| parameter.of = number(parameter.of));
                *returns = number(*returns);
            }
            Self::Section { variables, .. } => {
                variables.iter_mut().for_each(|variable| variable.of = number(variable.of));
            }
        }
        kind
    }
}

impl Btf {
    /// The type with this number, which must be of these types.
    ///
    /// # Panics
    /// There is no such type.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// All types, `void` first.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// All types with their numbers, `void` first.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        (0..).map(TypeId).zip(&self.types)
    }

    /// The types of this name.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (TypeId, &'a Type)> {
        self.iter().filter(move |(_, each)| &*each.name == name)
    }

    /// The type below typedefs and modifiers; `void` for a chain without an end.
    pub fn resolve(&self, id: TypeId) -> TypeId {
        let mut at = id;
        for _ in 0..LONGEST {
            match self.get(at).kind {
                Kind::Typedef(of)
                | Kind::Volatile(of)
                | Kind::Const(of)
                | Kind::Restrict(of)
                | Kind::TypeTag(of) => at = of,
                _ => return at,
            }
        }
        TypeId::VOID
    }

    /// Bytes of a type; None for one that has no size, or more than there can be.
    pub fn size(&self, id: TypeId) -> Option<u64> {
        let mut at = id;
        let mut count = 1_u64;
        for _ in 0..LONGEST {
            at = self.resolve(at);
            let size = match self.get(at).kind {
                Kind::Array { element, count: more } => {
                    count = count.checked_mul(more.into())?;
                    at = element;
                    continue;
                }
                Kind::Pointer(_) => POINTER,
                Kind::Variable { of, .. } => {
                    at = of;
                    continue;
                }
                Kind::Int { size, .. }
                | Kind::Struct { size, .. }
                | Kind::Union { size, .. }
                | Kind::Enum { size, .. }
                | Kind::Section { size, .. }
                | Kind::Float { size } => size.into(),
                _ => return None,
            };
            return count.checked_mul(size);
        }
        None
    }

    /// The declaration tags of a type, or of one of its members or parameters.
    pub fn tags(&self, on: TypeId, component: Option<u32>) -> impl Iterator<Item = &str> {
        self.iter().filter_map(move |(_, each)| match each.kind {
            Kind::DeclarationTag { on: tagged, component: of }
                if tagged == on && of == component =>
            {
                Some(&*each.name)
            }
            _ => None,
        })
    }
}
