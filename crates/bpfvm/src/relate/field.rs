// SPDX-License-Identifier: GPL-2.0-only
//! Where a field is and how to take it out of what is read there.

use btf::{Btf, CoreKind, Kind, TypeId};

use super::reply::Access;
use super::spec::Spec;

/// The number that is asked for of the field at the end of a way; None if there is no such number.
pub fn value(btf: &Btf, spec: &Spec, kind: CoreKind) -> Option<u64> {
    let place = Place::of(btf, spec)?;
    Some(match kind {
        CoreKind::FieldExists => 1,
        CoreKind::FieldOffset => place.bytes,
        CoreKind::FieldSize => place.size,
        CoreKind::FieldSigned => place.is_signed.into(),
        CoreKind::FieldShiftLeft => {
            64_u64.checked_sub(spec.bits + place.width - place.bytes * 8)?
        }
        CoreKind::FieldShiftRight => 64_u64.checked_sub(place.width)?,
        _ => return None,
    })
}

/// What the compiler has written of a field; None where compilers differ, as they do for bits of a number.
pub fn written(btf: &Btf, spec: &Spec, kind: CoreKind) -> Option<u64> {
    let is_bits = spec.last_member(btf).is_some_and(|member| member.width_bits.is_some());
    let differs =
        matches!(kind, CoreKind::FieldOffset | CoreKind::FieldSize | CoreKind::FieldShiftLeft);
    if is_bits && differs { None } else { value(btf, spec, kind) }
}

/// How a load or a store of a field changes from an object's types to a kernel's.
pub fn access((local, own): (&Btf, &Spec), (target, found): (&Btf, &Spec)) -> Option<Access> {
    let (from, to) = (end(local, own)?, end(target, found)?);
    let are = |is: fn(&Btf, TypeId) -> bool| is(local, from) && is(target, to);
    let is_resizable = are(is_pointer) || are(is_unsigned);
    Some(Access { own: local.size(from)?, bytes: target.size(to)?, is_resizable })
}

/// The type of what is loaded at the end of a way: of an array an element.
fn end(btf: &Btf, spec: &Spec) -> Option<TypeId> {
    let of = spec.last_member(btf).map_or(spec.steps.last()?.of, |member| member.of);
    let of = btf.resolve(of);
    match btf.get(of).kind {
        Kind::Array { element, .. } => Some(btf.resolve(element)),
        _ => Some(of),
    }
}

fn is_pointer(btf: &Btf, of: TypeId) -> bool {
    matches!(btf.get(of).kind, Kind::Pointer(_))
}

fn is_unsigned(btf: &Btf, of: TypeId) -> bool {
    matches!(btf.get(of).kind, Kind::Int { is_signed: false, .. })
}

struct Place {
    /// From the beginning; for some bits of a number where the whole number is.
    bytes: u64,
    size: u64,
    /// Bits of the field.
    width: u64,
    is_signed: bool,
}

impl Place {
    fn of(btf: &Btf, spec: &Spec) -> Option<Self> {
        let Some(member) = spec.last_member(btf) else {
            let size = btf.size(spec.steps.last()?.of)?;
            return Some(Self {
                bytes: spec.bits / 8,
                size,
                width: size.checked_mul(8)?,
                is_signed: false,
            });
        };
        let size = btf.size(member.of)?;
        let is_signed = is_signed(btf, member.of);
        let Some(width) = member.width_bits else {
            return Some(Self {
                bytes: spec.bits / 8,
                size,
                width: size.checked_mul(8)?,
                is_signed,
            });
        };
        let width = u64::from(width);
        let mut size = size.max(1);
        loop {
            let bytes = spec.bits / 8 / size * size;
            if spec.bits + width - bytes * 8 <= size * 8 {
                return Some(Self { bytes, size, width, is_signed });
            }
            if size >= 8 {
                return None;
            }
            size *= 2;
        }
    }
}

fn is_signed(btf: &Btf, of: TypeId) -> bool {
    matches!(
        btf.get(btf.resolve(of)).kind,
        Kind::Int { is_signed: true, .. } | Kind::Enum { is_signed: true, .. }
    )
}
