// SPDX-License-Identifier: GPL-2.0-only
//! Checks that this kernel and this process can attach a scheduler or read its state.

use std::path::Path;

use nix::unistd::geteuid;

use crate::error::AttachError;
use crate::{builtin, sysfs};

pub fn check_kernel() -> Result<(), AttachError> {
    if !Path::new(sysfs::ROOT).exists() {
        return Err(AttachError::NoSchedExt);
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err(AttachError::NoBtf);
    }
    Ok(())
}

pub fn check_root() -> Result<(), AttachError> {
    if geteuid().is_root() { Ok(()) } else { Err(AttachError::NotRoot) }
}

/// Checks that the scheduler `name` is attached, by any process, and that this process may read its
/// state.
pub fn reachable(name: &str) -> Result<(), AttachError> {
    let running = sysfs::read().ops;
    if running != name {
        builtin::find(name)?;
        check_kernel()?;
        return Err(AttachError::NotAttached { name: name.into(), running });
    }
    if geteuid().is_root() { Ok(()) } else { Err(AttachError::NotRootToReach) }
}
