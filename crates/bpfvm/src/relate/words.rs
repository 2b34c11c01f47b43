// SPDX-License-Identifier: GPL-2.0-only

use btf::{Btf, Kind, TypeId};

/// A type in words: its kind and name.
pub fn describe_type(btf: &Btf, id: TypeId) -> String {
    let each = btf.get(id);
    let kind = match each.kind {
        Kind::Struct { .. } => "struct ",
        Kind::Union { .. } => "union ",
        Kind::Enum { .. } => "enum ",
        _ => "",
    };
    format!("{kind}{}", each.name)
}
