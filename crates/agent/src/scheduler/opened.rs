// SPDX-License-Identifier: GPL-2.0-only
//! The global variables of an object that is opened but not yet in the kernel.

use libbpf_rs::btf::Btf;
use libbpf_rs::{AsRawLibbpf, OpenObject};

use super::globals::{self, Global};
use super::machine;

/// Fills in the facts about this machine that the object asks for.
pub fn fit_machine(object: &mut OpenObject) {
    for global in variables(object) {
        let asked = global.tags.iter().find_map(|tag| tag.strip_prefix("machine | "));
        if let Some(values) = asked.and_then(|fact| machine::fact(fact, global.count)) {
            fill(object, &global, &values);
        }
    }
}

/// All integers and arrays of integers.
pub fn variables(object: &OpenObject) -> Vec<Global> {
    with_btf(object, globals::globals).unwrap_or_default()
}

/// None if the object has no BTF.
pub fn with_btf<T>(object: &OpenObject, read: impl FnOnce(&Btf<'_>) -> T) -> Option<T> {
    // SAFETY: the pointer is valid as long as `object` is, and so is the reference.
    let raw = unsafe { object.as_libbpf_object().as_ref() };
    Btf::from_bpf_object(raw).ok().flatten().map(|btf| read(&btf))
}

/// Whether `map` holds `section`: libbpf names the map of ".data" after the object, "bfs.data".
pub fn holds(map: &std::ffi::OsStr, section: &str) -> bool {
    map.to_string_lossy().ends_with(section)
}

/// Its initial values.
pub fn section(object: &OpenObject, name: &str) -> Option<Vec<u8>> {
    let map = object.maps().find(|map| holds(map.name(), name))?;
    map.initial_value().map(<[u8]>::to_vec)
}

/// Sets the first elements of `global` to `values`.
pub fn fill(object: &mut OpenObject, global: &Global, values: &[u64]) {
    let Some(mut map) = object.maps_mut().find(|map| holds(map.name(), &global.section)) else {
        return;
    };
    if let Some(section) = map.initial_value_mut() {
        for (index, &value) in values.iter().enumerate() {
            global.set(section, index, value);
        }
    }
}
