// SPDX-License-Identifier: GPL-2.0-only
//! Whether a type of an object can stand for one of a kernel.

use btf::{Btf, Kind, TypeId};

use super::names::essential;

/// Pointers to pointers, and parameters that are functions, deeper than any type has: such a chain is a circle.
const DEEPEST: usize = 32;

/// Whether two types are of one kind, all the way through pointers, arrays and prototypes. Names of structs do not
/// count, nor do sizes of integers.
pub fn are_compatible(local: (&Btf, TypeId), target: (&Btf, TypeId)) -> bool {
    compare(local, target, DEEPEST)
}

fn compare((local, own): (&Btf, TypeId), (target, other): (&Btf, TypeId), left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    let deeper = |own, other| compare((local, own), (target, other), left);
    match (&local.get(local.resolve(own)).kind, &target.get(target.resolve(other)).kind) {
        (Kind::Pointer(own), Kind::Pointer(other))
        | (Kind::Array { element: own, .. }, Kind::Array { element: other, .. }) => {
            deeper(*own, *other)
        }
        (
            Kind::Prototype { returns: own, parameters },
            Kind::Prototype { returns: other, parameters: wanted },
        ) => {
            parameters.len() == wanted.len()
                && parameters.iter().zip(wanted).all(|(own, other)| deeper(own.of, other.of))
                && deeper(*own, *other)
        }
        (own, other) => !matches!(own, Kind::Float { .. }) && is_one_kind(own, other),
    }
}

fn is_one_kind(own: &Kind, other: &Kind) -> bool {
    std::mem::discriminant(own) == std::mem::discriminant(other)
}

/// Whether a field of an object's type can be read as that of a kernel's.
pub fn are_fields_compatible(
    (local, own): (&Btf, TypeId),
    (target, other): (&Btf, TypeId),
) -> bool {
    let (mut own, mut other) = (own, other);
    for _ in 0..DEEPEST {
        let (one, two) = (local.get(local.resolve(own)), target.get(target.resolve(other)));
        match (&one.kind, &two.kind) {
            (
                Kind::Struct { .. } | Kind::Union { .. },
                Kind::Struct { .. } | Kind::Union { .. },
            )
            | (Kind::Pointer(_), Kind::Pointer(_))
            | (Kind::Float { .. }, Kind::Float { .. })
            | (Kind::Int { .. }, Kind::Int { .. }) => return true,
            (Kind::Forward { .. }, Kind::Forward { .. })
            | (Kind::Enum { .. }, Kind::Enum { .. }) => {
                let [one, two] = [&one.name, &two.name].map(|name| essential(name));
                return one.is_empty() || two.is_empty() || one == two;
            }
            (Kind::Array { element, .. }, Kind::Array { element: wanted, .. }) => {
                (own, other) = (*element, *wanted);
            }
            _ => return false,
        }
    }
    false
}
