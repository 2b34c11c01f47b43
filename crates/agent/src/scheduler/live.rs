// SPDX-License-Identifier: GPL-2.0-only
//! Changes the parameters of a scheduler that another process keeps attached.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;

use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapHandle};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

use super::error::AttachError;
use super::parameters::{self, Parameter};
use super::{builtin, sysfs};

/// The kernel's BPF_OBJ_NAME_LEN without the final zero, and what libbpf leaves for the object.
const MAP_NAME_MAX: usize = 15;
const OBJECT_NAME_MAX: usize = 8;

/// Sets `given` in the running scheduler `name`, one after the other.
///
/// # Errors
/// `BadParameter` before anything is set; `NotLive` if that scheduler is not running, a parameter
/// is fixed once loaded, or the kernel does not give access.
pub fn set(name: &str, given: &BTreeMap<String, String>) -> Result<(), AttachError> {
    let builtin = builtin::find(name)?;
    let chosen = parameters::choose(&builtin.description.parameters, given)
        .map_err(|error| AttachError::BadParameter { scheduler: name.into(), error })?;
    if let Some((fixed, _)) = chosen.iter().find(|(parameter, _)| !parameter.runtime) {
        return Err(not_live(format!("{} is fixed once loaded", fixed.name)));
    }
    let running = sysfs::read().ops;
    if running != name {
        let running = if running.is_empty() { "none" } else { &running };
        return Err(not_live(format!("{name} is not attached, {running} is")));
    }
    chosen.iter().try_for_each(|(parameter, value)| write(name, parameter, *value))
}

fn not_live(reason: impl Into<String>) -> AttachError {
    AttachError::NotLive { reason: reason.into() }
}

/// Maps the section, because writing it as a whole would undo what the scheduler writes meanwhile.
fn write(name: &str, parameter: &Parameter, value: i64) -> Result<(), AttachError> {
    let failed = |error: &dyn std::fmt::Display| not_live(format!("{}: {error}", parameter.name));
    let map = map(name, &parameter.place.section).map_err(|error| failed(&error))?;
    let map = map.ok_or_else(|| not_live("its section is not in the kernel"))?;
    let length = map.value_size() as usize;
    let size = NonZeroUsize::new(length).ok_or_else(|| not_live("its section is empty"))?;
    let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: a new mapping of a file that nobody truncates.
    let memory = unsafe { mmap(None, size, access, MapFlags::MAP_SHARED, map.as_fd(), 0) }
        .map_err(|error| failed(&error))?;
    let place = &parameter.place;
    let bytes = value.to_le_bytes();
    assert!(place.offset + place.width <= length && place.width <= bytes.len());
    // SAFETY: within the mapping, as asserted; other writers are the kernel's BPF programs.
    unsafe {
        let target = memory.as_ptr().cast::<u8>().add(place.offset);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, place.width);
        munmap(memory, length).map_err(|error| failed(&error))
    }
}

fn map(name: &str, section: &str) -> libbpf_rs::Result<Option<MapHandle>> {
    let object: String = name.chars().take(OBJECT_NAME_MAX).collect();
    let wanted: String = format!("{object}{section}").chars().take(MAP_NAME_MAX).collect();
    MapInfoIter::default()
        .filter(|info| info.name.to_string_lossy() == wanted)
        .last()
        .map(|info| MapHandle::from_map_id(info.id))
        .transpose()
}
