// SPDX-License-Identifier: GPL-2.0-only
//! What is asked of types and of the values of enums.

use btf::{Btf, CoreKind, Enumerator, Kind, TypeId};

use super::names::essential;

/// The number that is asked for of a type as a whole.
pub fn of_type(btf: &Btf, id: TypeId, kind: CoreKind) -> Option<u64> {
    match kind {
        CoreKind::TypeSize => btf.size(id),
        CoreKind::TypeIdTarget => Some(id.0.into()),
        _ => Some(1),
    }
}

/// The value of an enum that a way such as `3` leads to.
pub fn enumerator<'a>(btf: &'a Btf, root: TypeId, access: &str) -> Option<&'a Enumerator> {
    let Kind::Enum { values, .. } = &btf.get(btf.resolve(root)).kind else { return None };
    values.get(access.parse::<usize>().ok()?)
}

/// The number of the value of this name.
pub fn of_enumerator(btf: &Btf, id: TypeId, name: &str) -> Option<u64> {
    let Kind::Enum { values, .. } = &btf.get(btf.resolve(id)).kind else { return None };
    let found = values.iter().find(|value| essential(&value.name) == essential(name));
    found.map(|value| value.value)
}
