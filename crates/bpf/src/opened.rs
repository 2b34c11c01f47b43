// SPDX-License-Identifier: GPL-2.0-only
//! The global variables of an object that is opened but not yet in the kernel.

use libbpf_rs::btf::Btf;
use libbpf_rs::{AsRawLibbpf, OpenObject};

use crate::globals::{self, Global};
use crate::sections::section_mut;
use crate::topology;

pub use crate::sections::{holds, section};

/// Fills in the facts about this machine that the object's `variables` ask for.
pub fn fit_machine(object: &mut OpenObject, variables: &[Global]) {
    for global in variables {
        let asked = global.tags.iter().find_map(|tag| tag.strip_prefix("machine | "));
        if let Some(values) = asked.and_then(|fact| topology::fact(fact, global.count)) {
            fill(object, global, &values);
        }
    }
}

/// All variables of the object that are integers or arrays of integers.
pub fn variables(object: &OpenObject) -> Vec<Global> {
    with_btf(object, globals::globals).unwrap_or_default()
}

/// Calls `read` with the object's types; None if it has none.
pub fn with_btf<T>(object: &OpenObject, read: impl FnOnce(&Btf<'_>) -> T) -> Option<T> {
    // SAFETY: the pointer is valid as long as `object` is, and so is the reference.
    let raw = unsafe { object.as_libbpf_object().as_ref() };
    Btf::from_bpf_object(raw).ok().flatten().map(|btf| read(&btf))
}

/// Resizes the section `name`, whose last variable is an array, to `bytes`; false if that fails.
pub fn resize(object: &mut OpenObject, name: &str, bytes: u32) -> bool {
    let map = object.maps_mut().find(|map| holds(map.name(), name));
    map.is_some_and(|mut map| map.set_value_size(bytes).is_ok())
}

/// Sets the first elements of `global` to `values`.
pub fn fill(object: &mut OpenObject, global: &Global, values: &[u64]) {
    section_mut(object, &global.section, |section| {
        for (index, &value) in values.iter().enumerate() {
            global.set(section, index, value);
        }
    });
}
