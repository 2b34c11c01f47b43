// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's enumerators, which change from version to version.
//!
//! Objects built with the sched_ext headers hold each as `const volatile u64 __SCX_NAME` and
//! expect their loader to fill it in; 0 means that this kernel has none.

use std::collections::BTreeMap;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Enum, Enum64};

use super::globals::Global;

/// All enumerators of the running kernel that start with "SCX_".
///
/// # Errors
/// libbpf cannot read the kernel's BTF.
pub fn read() -> libbpf_rs::Result<BTreeMap<String, u64>> {
    let kernel = Btf::from_vmlinux()?;
    let mut values = BTreeMap::new();
    let mut add = |name: Option<&std::ffi::OsStr>, value: u64| {
        let name = name.unwrap_or_default().to_string_lossy();
        if name.starts_with("SCX_") {
            values.insert(name.into_owned(), value);
        }
    };
    for kind in kernel.type_by_kind::<Enum>() {
        kind.iter().for_each(|member| add(member.name, member.value as u64));
    }
    for kind in kernel.type_by_kind::<Enum64>() {
        kind.iter().for_each(|member| add(member.name, member.value as u64));
    }
    Ok(values)
}

/// The enumerator that `global` stands for.
pub fn name(global: &Global) -> Option<&str> {
    let name = global.name.strip_prefix("__")?;
    (name.starts_with("SCX_") && !global.writable() && global.width == 8).then_some(name)
}
