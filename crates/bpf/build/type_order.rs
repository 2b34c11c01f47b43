// SPDX-License-Identifier: GPL-2.0-only
//! Sorts the types of an object, so that one source and compiler always give the same object.
//!
//! LLVM writes the forward declarations of BTF in the order of a hash table over addresses
//! (`FixupDerivedTypes` in BTFDebug.cpp), which differs from one build to the next.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::{fs, slice};

use anyhow::{Context, Result, ensure};
use libbpf_rs::libbpf_sys::{self, BTF_KIND_FWD, btf, btf_type};

/// Sorts the forward declarations of the object at `path` by their names, in place.
///
/// Linking gives the names of types the order of the types.
pub fn settle(path: &Path) -> Result<()> {
    let types = Types::parse(path)?;
    let before = types.bytes().to_vec();
    types.permute(&types.sorted_declarations())?;
    let mut object = fs::read(path)?;
    let start = object
        .windows(before.len())
        .position(|window| window == before)
        .context("its types are not stored as they were read")?;
    let after = types.bytes();
    ensure!(after.len() == before.len(), "its types have another size in another order");
    object[start..start + after.len()].copy_from_slice(after);
    Ok(fs::write(path, object)?)
}

struct Types(NonNull<btf>);

impl Types {
    fn parse(path: &Path) -> Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the name is a string that lives until the call returns.
        let parsed = unsafe { libbpf_sys::btf__parse_elf(name.as_ptr(), ptr::null_mut()) };
        NonNull::new(parsed).map(Self).context("it has no BTF")
    }

    fn bytes(&self) -> &[u8] {
        let mut size = 0;
        // SAFETY: libbpf keeps `size` bytes there until the types are changed or freed.
        unsafe {
            let start = libbpf_sys::btf__raw_data(self.0.as_ptr(), &raw mut size);
            slice::from_raw_parts(start.cast(), size as usize)
        }
    }

    fn count(&self) -> u32 {
        // SAFETY: the types are there.
        unsafe { libbpf_sys::btf__type_cnt(self.0.as_ptr()) }
    }

    /// The new number of each type, by its old one.
    fn sorted_declarations(&self) -> Vec<u32> {
        let places: Vec<u32> = (1..self.count()).filter(|&id| self.is_declaration(id)).collect();
        let mut sorted = places.clone();
        sorted.sort_by_key(|&id| (self.name(id), self.get(id).info));
        let mut numbers: Vec<u32> = (0..self.count()).collect();
        for (old, new) in sorted.into_iter().zip(places) {
            numbers[old as usize] = new;
        }
        numbers
    }

    fn is_declaration(&self, id: u32) -> bool {
        self.get(id).info >> 24 & 0x1f == BTF_KIND_FWD
    }

    fn get(&self, id: u32) -> &btf_type {
        // SAFETY: ids below the count are those of types, which live as long as this.
        unsafe { &*libbpf_sys::btf__type_by_id(self.0.as_ptr(), id) }
    }

    fn name(&self, id: u32) -> &CStr {
        let offset = self.get(id).name_off;
        // SAFETY: the names of types are strings that live as long as this.
        unsafe { CStr::from_ptr(libbpf_sys::btf__name_by_offset(self.0.as_ptr(), offset)) }
    }

    fn permute(&self, numbers: &[u32]) -> Result<()> {
        let mut numbers = numbers.to_vec();
        // SAFETY: there is a number for every type. Functions, which .BTF.ext refers to, stay.
        let code = unsafe {
            libbpf_sys::btf__permute(
                self.0.as_ptr(),
                numbers.as_mut_ptr(),
                self.count(),
                ptr::null(),
            )
        };
        ensure!(
            code == 0,
            "libbpf does not order them: {}",
            std::io::Error::from_raw_os_error(-code)
        );
        Ok(())
    }
}

impl Drop for Types {
    fn drop(&mut self) {
        // SAFETY: nothing borrowed from it is left.
        unsafe { libbpf_sys::btf__free(self.0.as_ptr()) };
    }
}
