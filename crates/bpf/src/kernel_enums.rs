// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's enumerators, which change from version to version.
//!
//! Objects built with the sched_ext headers hold each as `const volatile u64 __SCX_NAME` and expect
//! their loader to fill it in; 0 means that this kernel does not have it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use libbpf_rs::btf::types::{Enum, Enum64};
use libbpf_rs::btf::{Btf, BtfKind, BtfType, TypeId};
use libbpf_rs::{AsRawLibbpf, HasSize, libbpf_sys};

use crate::globals::Global;
use crate::kernel_types;

const PREFIX: &[u8] = b"SCX_";

/// Bytes of an enumeration that needs 64 bits. If it is described by the kind for 32 bits, the
/// upper ones are lost: `pahole --skip_encoding_btf_enum64` does that.
const WIDE: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Whole(u64),
    Truncated,
}

/// All enumerators of sched_ext.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enumerators(BTreeMap<String, Value>);

/// The kernel has the enumerator, but shows only the lower half of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncated;

impl Enumerators {
    /// The value of `name`; 0 if this kernel does not have it.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn value(&self, name: &str) -> Result<u64, Truncated> {
        match self.0.get(name) {
            None => Ok(0),
            Some(Value::Whole(value)) => Ok(*value),
            Some(Value::Truncated) => Err(Truncated),
        }
    }

    fn read(types: &Btf<'_>) -> Self {
        let mut found = BTreeMap::new();
        let mut add = |name: Option<&std::ffi::OsStr>, value| {
            let name = name.unwrap_or_default();
            if name.as_encoded_bytes().starts_with(PREFIX) {
                found.insert(name.to_string_lossy().into_owned(), value);
            }
        };
        for ty in enumerations(types) {
            if let Ok(narrow) = Enum::try_from(ty) {
                let whole = narrow.size() < WIDE;
                for member in narrow.iter() {
                    let value = Value::Whole(member.value.cast_unsigned());
                    add(member.name, if whole { value } else { Value::Truncated });
                }
            } else if let Ok(wide) = Enum64::try_from(ty) {
                wide.iter().for_each(|member| add(member.name, Value::Whole(low(member.value))));
            }
        }
        Self(found)
    }
}

/// The 64 bits of an enumerator, which libbpf-rs returns as an i128 to hold either sign.
fn low(value: i128) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it has 64 bits")]
    let low = value as u64;
    low
}

/// The enumerators of the running kernel.
///
/// # Errors
/// libbpf cannot read the kernel's types.
pub fn of_kernel() -> libbpf_rs::Result<&'static Enumerators> {
    static KNOWN: OnceLock<Enumerators> = OnceLock::new();
    if let Some(known) = KNOWN.get() {
        return Ok(known);
    }
    let read = kernel_types::with(Enumerators::read)?;
    Ok(KNOWN.get_or_init(|| read))
}

/// The enumerations in `types`. libbpf-rs's own iteration is slow: it measures the name of every
/// type.
fn enumerations<'btf>(types: &'btf Btf<'btf>) -> impl Iterator<Item = BtfType<'btf>> {
    let raw = types.as_libbpf_object();
    let kinds = [BtfKind::Enum as u32, BtfKind::Enum64 as u32];
    let last = u32::try_from(types.len()).unwrap_or(u32::MAX);
    (1..last)
        .filter(move |&id| {
            // SAFETY: `types` keeps the pointer valid, and libbpf gives null for what is not a type.
            let ty = unsafe { libbpf_sys::btf__type_by_id(raw.as_ptr(), id).as_ref() };
            ty.is_some_and(|ty| kinds.contains(&(ty.info >> 24 & 0x1f)))
        })
        .filter_map(|id| types.type_by_id(TypeId::from(id)))
}

/// The enumerator that `global` stands for.
pub fn name(global: &Global) -> Option<&str> {
    let name = global.name.strip_prefix("__")?;
    (name.starts_with("SCX_") && !global.writable() && global.width == 8).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_btf::FakeBtf;

    fn read(types: &FakeBtf) -> Enumerators {
        types.with(Enumerators::read)
    }

    #[test]
    fn enumerators_of_both_widths_are_read() {
        let mut types = FakeBtf::default();
        types.integer("int", 4);
        types.enumeration("scx_wake", 4, &[("SCX_WAKE_FORK", 4), ("SCX_WAKE_ALL", u32::MAX)]);
        types.enumeration("other", 4, &[("XSCX_OTHER", 7)]);
        types.enumeration64("scx_dsq", &[("SCX_DSQ_LOCAL", 1 << 63 | 2), ("SCX_DSQ_LOW", 5)]);
        let found = read(&types);
        let values = ["SCX_WAKE_FORK", "SCX_WAKE_ALL", "SCX_DSQ_LOCAL", "SCX_DSQ_LOW", "SCX_NONE"];
        let values = values.map(|name| found.value(name));
        assert_eq!(values, [Ok(4), Ok(u64::from(u32::MAX)), Ok(1 << 63 | 2), Ok(5), Ok(0)]);
        assert_eq!(found.0.len(), 4);
    }

    #[test]
    fn a_truncated_enumerator_has_no_value() {
        let mut types = FakeBtf::default();
        types.enumeration("scx_dsq", 8, &[("SCX_DSQ_LOCAL", 2)]);
        types.enumeration("scx_wake", 4, &[("SCX_WAKE_FORK", 4)]);
        let found = read(&types);
        assert_eq!(found.value("SCX_DSQ_LOCAL"), Err(Truncated));
        assert_eq!(found.value("SCX_WAKE_FORK"), Ok(4));
    }
}
