// SPDX-License-Identifier: GPL-2.0-only
//! Finds the disks that a directory is on: through partitions, volumes and arrays down to devices
//! with a queue.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor, stat};
use procfs::process::{MountInfo, Process};

use crate::disk::error::PlaceError;
use machine::mounts::unescaped;

/// The names in /sys/block of the disks below `place`, which has no links in it.
///
/// # Errors
/// There is no such directory, or its file system is on no disk.
pub fn disks_below(place: &Path) -> Result<BTreeSet<String>, PlaceError> {
    let unusable = |error| PlaceError::Unusable { path: place.into(), error };
    let mut found = BTreeSet::new();
    for device in devices(place).map_err(unusable)? {
        leaves(&device, &mut found).map_err(unusable)?;
    }
    if found.is_empty() {
        let file_system = mount(place).map(|mount| mount.fs_type).unwrap_or_default();
        return Err(PlaceError::OnNoDisk { path: place.into(), file_system });
    }
    Ok(found)
}

/// The devices in sysfs of the file system that has `place`.
fn devices(place: &Path) -> io::Result<Vec<PathBuf>> {
    let number = stat(place)?.st_dev;
    let device = format!("/sys/dev/block/{}:{}", major(number), minor(number));
    Ok(if Path::new(&device).exists() { vec![device.into()] } else { members(place) })
}

/// The devices of a file system that has several, such as btrfs: its device number is not that of
/// any of them.
fn members(place: &Path) -> Vec<PathBuf> {
    let source = mount(place).and_then(|mount| mount.mount_source).unwrap_or_default();
    // A source that is not a block device is a word of the file system's own, such as tmpfs.
    let Ok(source) = Path::new(&source).canonicalize() else { return Vec::new() };
    let Some(name) = source.file_name() else { return Vec::new() };
    let file_systems = fs::read_dir("/sys/fs/btrfs").into_iter().flatten().flatten();
    let mut groups = file_systems.map(|each| each.path().join("devices"));
    let group = groups.find(|group| group.join(name).exists());
    let members = group.and_then(|group| fs::read_dir(group).ok()).into_iter().flatten().flatten();
    members.map(|member| member.path()).collect()
}

/// The mount that `place` is on.
fn mount(place: &Path) -> Option<MountInfo> {
    let mounts = Process::myself().ok()?.mountinfo().ok()?.0.into_iter();
    // A later mount at the same place hides the earlier one.
    mounts
        .filter(|mount| place.starts_with(unescaped(&mount.mount_point)))
        .max_by_key(|mount| mount.mount_point.as_os_str().len())
}

/// The disks of a device in sysfs: the whole of a partition, and what volumes and arrays are made of.
fn leaves(device: &Path, found: &mut BTreeSet<String>) -> io::Result<()> {
    let device = device.canonicalize()?;
    let whole = if device.join("partition").exists() { device.parent() } else { Some(&*device) };
    let whole = whole.unwrap_or(&device);
    let below: Vec<_> =
        fs::read_dir(whole.join("slaves")).into_iter().flatten().flatten().collect();
    if below.is_empty() {
        let name = whole.file_name().unwrap_or_default();
        found.insert(name.to_string_lossy().into_owned());
    }
    below.iter().try_for_each(|each| leaves(&each.path(), found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_no_disk_is_named() {
        let refusal = |place: &str| disks_below(Path::new(place)).unwrap_err().to_string();
        assert_eq!(refusal("/proc"), "/proc is on no disk but on proc: name a directory on a disk");
        assert!(refusal("/no/such").starts_with("cannot work in /no/such: "));
    }
}
