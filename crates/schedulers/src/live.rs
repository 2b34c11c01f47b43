// SPDX-License-Identifier: GPL-2.0-only
//! The parameters of an attached scheduler, whichever process keeps it attached.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use libbpf_rs::{MapCore, MapHandle};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use serde::Serialize;

use super::access::reachable;
use super::error::AttachError;
use super::parameters::{self, Parameter, Shown};
use super::running::Running;
use super::{builtin, sysfs};
use ::parameters::Choosable;
use bpf::globals::Global;

#[derive(Debug, Serialize)]
pub struct Values {
    pub scheduler: String,
    pub parameters: Vec<Shown>,
}

/// Sets `given` in the running scheduler `name` and reads it back; reads all of its parameters if
/// nothing is given.
///
/// # Errors
/// `BadParameter`, `NotAttached`, `Foreign` or `Unreachable` before anything is set.
pub fn set(name: &str, given: &BTreeMap<String, String>) -> Result<Values, AttachError> {
    let bad = |error| AttachError::BadParameter { scheduler: name.into(), error };
    let before = sysfs::read();
    if before.ops != name {
        let known = &builtin::find(name)?.description.parameters;
        parameters::choose_running(name, known, given).map_err(bad)?;
    }
    reachable(name)?;
    let running = Running::find(name)?;
    let known = running.parameters()?;
    let ours = builtin::find(name).is_ok_and(|ours| !ours.description.parameters.is_empty());
    if ours && known.is_empty() {
        return Err(AttachError::Foreign { name: name.into(), what: "parameters" });
    }
    let chosen = parameters::choose_running(name, &known, given).map_err(bad)?;
    let places = chosen
        .iter()
        .map(|(parameter, value)| Ok((Place::reach(&running, parameter)?, *value)))
        .collect::<Result<Vec<_>, AttachError>>()?;
    places.iter().for_each(|(place, value)| place.store(*value));
    let asked = |parameter: &Parameter| given.is_empty() || given.contains_key(parameter.name());
    let parameters = read(&running, known.iter().filter(|parameter| asked(parameter)))?;
    match sysfs::read().enable_seq == before.enable_seq {
        true => Ok(Values { scheduler: name.into(), parameters }),
        false => Err(AttachError::Unreachable {
            name: name.into(),
            reason: "it was detached meanwhile".into(),
        }),
    }
}

fn read<'a>(
    running: &Running,
    parameters: impl Iterator<Item = &'a Parameter>,
) -> Result<Vec<Shown>, AttachError> {
    parameters
        .map(|parameter| {
            let value = parameter.place.get(&running.read(&parameter.place.section)?);
            let value = value.ok_or_else(|| AttachError::Unreachable {
                name: running.name().into(),
                reason: format!("its section has no {}", parameter.name()),
            })?;
            Ok(parameter.clone().running(value))
        })
        .collect()
}

/// A variable in the memory of a running scheduler.
///
/// Mapped, because writing the section as a whole would undo what the scheduler writes meanwhile.
struct Place {
    memory: NonNull<c_void>,
    length: usize,
    offset: usize,
    width: usize,
}

impl Place {
    fn reach(running: &Running, parameter: &Parameter) -> Result<Self, AttachError> {
        let place = &parameter.place;
        Self::map(&running.section(&place.section)?, place).map_err(|reason| {
            AttachError::Unreachable {
                name: running.name().into(),
                reason: format!("{}: {reason}", parameter.name()),
            }
        })
    }

    fn map(section: &MapHandle, place: &Global) -> Result<Self, String> {
        let &Global { offset, width, .. } = place;
        let length = usize::try_from(section.value_size()).map_err(|error| error.to_string())?;
        let inside = offset + width <= length && offset.is_multiple_of(width);
        let size = NonZeroUsize::new(length).filter(|_| inside);
        let size = size.ok_or("it lies outside its section")?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping of a file that is never truncated.
        unsafe { mmap(None, size, access, MapFlags::MAP_SHARED, section.as_fd(), 0) }
            .map(|memory| Self { memory, length, offset, width })
            .map_err(|error| error.to_string())
    }

    /// Stores in one piece, because the scheduler reads it at any moment.
    #[expect(clippy::cast_possible_truncation, reason = "the object's ranges fit the variables")]
    fn store(&self, value: i64) {
        let value = value.cast_unsigned();
        // SAFETY: `map` saw that it is aligned and within the mapping; other users are the kernel's
        // BPF programs.
        unsafe {
            let target = self.memory.as_ptr().byte_add(self.offset);
            match self.width {
                1 => AtomicU8::from_ptr(target.cast()).store(value as u8, Relaxed),
                2 => AtomicU16::from_ptr(target.cast()).store(value as u16, Relaxed),
                4 => AtomicU32::from_ptr(target.cast()).store(value as u32, Relaxed),
                8 => AtomicU64::from_ptr(target.cast()).store(value, Relaxed),
                width => unreachable!("BTF has no integer of {width} bytes"),
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` and not used elsewhere.
        let _unmapped = unsafe { munmap(self.memory, self.length) };
    }
}
