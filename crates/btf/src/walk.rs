// SPDX-License-Identifier: GPL-2.0-only
//! Ways from one type to others.

use crate::types::{Btf, Kind, Member, Parameter, Type, TypeId, Variable};

/// More modifiers, or arrays of arrays, than any type has: such a chain is a circle.
const LONGEST: usize = 64;

/// Bytes of a pointer.
const POINTER: u64 = 8;

/// Hands the numbers of all types that a kind is made of to a function: as references, with `iter`, or to change them,
/// with `iter_mut`.
macro_rules! for_each_reference {
    ($kind:expr, $iter:ident, $visit:expr) => {
        match $kind {
            Kind::Void
            | Kind::Int { .. }
            | Kind::Enum { .. }
            | Kind::Forward { .. }
            | Kind::Float { .. } => {}
            Kind::Pointer(of)
            | Kind::Typedef(of)
            | Kind::Volatile(of)
            | Kind::Const(of)
            | Kind::Restrict(of)
            | Kind::TypeTag(of)
            | Kind::Array { element: of, .. }
            | Kind::Function { prototype: of, .. }
            | Kind::Variable { of, .. }
            | Kind::DeclarationTag { on: of, .. } => $visit(of),
            Kind::Struct { members, .. } | Kind::Union { members, .. } => {
                members.$iter().for_each(|Member { of, .. }| $visit(of));
            }
            Kind::Prototype { returns, parameters } => {
                parameters.$iter().for_each(|Parameter { of, .. }| $visit(of));
                $visit(returns);
            }
            Kind::Section { variables, .. } => {
                variables.$iter().for_each(|Variable { of, .. }| $visit(of));
            }
        }
    };
}

impl Kind {
    /// The types that it is made of.
    pub fn references(&self) -> Vec<TypeId> {
        let mut found = Vec::new();
        for_each_reference!(self, iter, |of: &TypeId| found.push(*of));
        found
    }

    /// Returns the kind made of the types whose numbers `number` gives for its own.
    #[must_use]
    pub fn renumbered(&self, number: impl Fn(TypeId) -> TypeId) -> Self {
        let mut kind = self.clone();
        for_each_reference!(&mut kind, iter_mut, |of: &mut TypeId| *of = number(*of));
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
}
