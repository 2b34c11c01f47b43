// SPDX-License-Identifier: GPL-2.0-only
//! File systems of the guest.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Result, ensure};
use nix::libc;
use nix::mount::{MsFlags, mount};

use machine::scratch::PROGRAMS;

/// Where workloads with an image have their root directory.
pub const IMAGE: &str = "/image";

/// Where the disk is below that, or in the bare guest.
const DISK: &str = "scratch";

pub fn kernel_file_systems() -> Result<()> {
    for (kind, target) in [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("devtmpfs", "/dev"),
        ("tmpfs", "/tmp"),
        ("tmpfs", "/run"),
    ] {
        attach(kind, kind, Path::new(target))?;
    }
    control_groups(Path::new("/sys"))?;
    // Kernel 7.2 gives a new cgroup its perf_event state, which counts migrations, only once its parent
    // has some controller on; pids is the one that changes no scheduling.
    fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+pids")
        .context("cannot switch a cgroup controller on")?;
    kernel_insides(Path::new("/sys/kernel"));
    Ok(())
}

/// Mounts the image and, inside it, what programs expect of a running system.
pub fn image(device: &Path) -> Result<()> {
    let root = Path::new(IMAGE);
    attach("ext4", &device.to_string_lossy(), root)?;
    for (kind, target) in [
        ("proc", "proc"),
        ("sysfs", "sys"),
        ("devtmpfs", "dev"),
        ("tmpfs", "tmp"),
        ("tmpfs", "run"),
    ] {
        attach(kind, kind, &root.join(target))?;
    }
    control_groups(&root.join("sys"))?;
    kernel_insides(&root.join("sys/kernel"));
    attach("tmpfs", "tmpfs", &root.join("dev/shm"))?;
    attach("devpts", "devpts", &root.join("dev/pts"))?;
    let programs = root.join(PROGRAMS.trim_start_matches('/'));
    fs::create_dir_all(&programs)?;
    fs::copy("/init", programs.join("runoff-agent"))
        .context("cannot copy the agent into the image")?;
    Ok(())
}

/// Mounts the disk where commands with the image as their root, or without one, find it.
pub fn disk(device: &Path, below_image: bool) -> Result<()> {
    let root = Path::new(if below_image { IMAGE } else { "/" });
    attach("ext4", &device.to_string_lossy(), &root.join(DISK))
}

/// Swaps on a device whose header is there already.
pub fn swap(device: &Path) -> Result<()> {
    let path = CString::new(device.as_os_str().as_bytes())?;
    // SAFETY: the path is NUL-terminated and outlives the call.
    let failed = unsafe { libc::swapon(path.as_ptr(), 0) } != 0;
    ensure!(!failed, "cannot swap on {}: {}", device.display(), io::Error::last_os_error());
    Ok(())
}

fn control_groups(sys: &Path) -> Result<()> {
    attach("cgroup2", "cgroup2", &sys.join("fs/cgroup"))
}

/// Mounts debugfs and tracefs, which some kernels lack; the fingerprint reads the preemption model there, and work its
/// settings of the scheduler.
fn kernel_insides(place: &Path) {
    for (kind, target) in [("debugfs", "debug"), ("tracefs", "tracing")] {
        let _ = attach(kind, kind, &place.join(target));
    }
}

fn attach(kind: &str, source: &str, target: &Path) -> Result<()> {
    fs::create_dir_all(target)?;
    mount(Some(source), target, Some(kind), MsFlags::empty(), None::<&str>)
        .with_context(|| format!("cannot mount {source} on {}", target.display()))
}
