// SPDX-License-Identifier: GPL-2.0-only
//! The users of a disk: where it is mounted, and which processes have it open.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use machine::mounts::unescaped;
use nix::libc;
use procfs::process::{FDTarget, Process, all_processes};
use serde::Serialize;

use crate::driver::device::block_device;

#[derive(Debug, Default, Serialize)]
pub struct Users {
    pub mounted_on: BTreeSet<PathBuf>,
    pub open_in: Vec<Opener>,
    /// Whether another user has it exclusively: it is swap space, or below another device.
    pub claimed: bool,
}

#[derive(Debug, Serialize)]
pub struct Opener {
    pub pid: i32,
    pub name: String,
}

impl Users {
    /// The users of disk `number`, even if its server is gone: users keep it under its old name.
    /// Only root sees all of them.
    pub fn of(number: u32) -> Self {
        let device = block_device(number);
        let mut found = Self::default();
        let mut looked_at = HashSet::new();
        for process in all_processes().into_iter().flatten().flatten() {
            let view = view_of_mounts(process.pid());
            // A process that has ended meanwhile shows no mounts, so its view is read from another
            // one.
            if view.is_none_or(|view| !looked_at.contains(&view))
                && let Some(mounts) = mounts(&process, &device)
            {
                found.mounted_on.extend(mounts);
                looked_at.extend(view);
            }
            if opens(&process, &device) {
                let name = process.stat().map(|stat| stat.comm).unwrap_or_default();
                found.open_in.push(Opener { pid: process.pid(), name });
            }
        }
        found.claimed = found.is_empty() && is_claimed(number);
        found
    }

    pub fn is_empty(&self) -> bool {
        self.mounted_on.is_empty() && self.open_in.is_empty() && !self.claimed
    }
}

impl fmt::Display for Users {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mounted = self.mounted_on.iter().map(|place| format!("mounted on {}", place.display()));
        let open = self
            .open_in
            .iter()
            .map(|opener| format!("open in process {} ({})", opener.pid, opener.name));
        let claimed = self.claimed.then(|| "used as swap space or below another device".to_owned());
        out.write_str(&mounted.chain(open).chain(claimed).collect::<Vec<_>>().join(", "))
    }
}

/// Whether a user has it exclusively, as a file system does.
pub fn is_claimed(number: u32) -> bool {
    let path = block_device(number);
    let opened = File::options().read(true).custom_flags(libc::O_EXCL).open(path);
    opened.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
}

/// The numbers of a process's mount namespace and root: processes with the same two see the same
/// mounts. None if this process may not see them.
fn view_of_mounts(pid: i32) -> Option<[(u64, u64); 2]> {
    let number = |what: &str| {
        let about = fs::metadata(format!("/proc/{pid}/{what}")).ok()?;
        Some((about.dev(), about.ino()))
    };
    Some([number("ns/mnt")?, number("root")?])
}

/// The places where `process` sees `device` mounted; None if it has ended.
fn mounts(process: &Process, device: &Path) -> Option<Vec<PathBuf>> {
    let infos = process.mountinfo().ok()?;
    let of_device = |source: &Option<String>| {
        source.as_ref().is_some_and(|source| is_part(Path::new(source), device))
    };
    let of_device = infos.0.into_iter().filter(|info| of_device(&info.mount_source));
    Some(of_device.map(|info| unescaped(&info.mount_point)).collect())
}

fn opens(process: &Process, device: &Path) -> bool {
    let mut descriptors = process.fd().into_iter().flatten().flatten();
    descriptors.any(|each| matches!(&each.target, FDTarget::Path(path) if is_part(path, device)))
}

/// Whether `path` is the device or a partition of it, even after it has gone.
fn is_part(path: &Path, device: &Path) -> bool {
    let (Some(path), Some(device)) = (path.to_str(), device.to_str()) else { return false };
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.strip_prefix(device).is_some_and(|rest| {
        let partition = rest.strip_prefix('p').unwrap_or_default();
        rest.is_empty()
            || (!partition.is_empty() && partition.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_partition_is_part_of_its_disk_and_another_disk_is_not() {
        let of_one = |path: &str| is_part(Path::new(path), Path::new("/dev/ublkb1"));
        assert!(
            of_one("/dev/ublkb1") && of_one("/dev/ublkb1p2") && of_one("/dev/ublkb1 (deleted)")
        );
        assert!(
            !of_one("/dev/ublkb10")
                && !of_one("/dev/ublkb1p")
                && !of_one("/dev/ublkb1px")
                && !of_one("/dev/sda")
        );
    }

    #[test]
    fn processes_with_the_same_namespace_and_root_see_the_same_mounts() {
        let own = std::process::id().cast_signed();
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let other = child.id().cast_signed();
        assert!(view_of_mounts(own).is_some());
        assert_eq!(view_of_mounts(own), view_of_mounts(other));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(view_of_mounts(other), None);
    }

    #[test]
    fn a_sentence_names_every_user() {
        let opener = Opener { pid: 7, name: "dd".into() };
        let users = Users {
            mounted_on: ["/a".into(), "/b".into()].into(),
            open_in: vec![opener],
            claimed: false,
        };
        assert_eq!(users.to_string(), "mounted on /a, mounted on /b, open in process 7 (dd)");
        assert!(!users.is_empty() && Users::default().is_empty());
    }
}
