// SPDX-License-Identifier: GPL-2.0-only
//! The sections of an object that is opened but not yet in the kernel, which libbpf has as maps.

use libbpf_rs::OpenObject;

/// Whether `map` holds `section`: libbpf names the map of ".data" after the object, "bfs.data".
pub fn holds(map: &std::ffi::OsStr, section: &str) -> bool {
    map.to_string_lossy().ends_with(section)
}

/// The initial values of the section `name`.
pub fn section(object: &OpenObject, name: &str) -> Option<Vec<u8>> {
    let map = object.maps().find(|map| holds(map.name(), name))?;
    map.initial_value().map(<[u8]>::to_vec)
}

/// Calls `change` with the initial values of a section; None if there is no such section.
pub fn section_mut<T>(
    object: &mut OpenObject,
    name: &str,
    change: impl FnOnce(&mut [u8]) -> T,
) -> Option<T> {
    let mut map = object.maps_mut().find(|map| holds(map.name(), name))?;
    map.initial_value_mut().map(change)
}
