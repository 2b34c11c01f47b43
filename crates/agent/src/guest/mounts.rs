// SPDX-License-Identifier: GPL-2.0-only
//! File systems of the guest.

use std::fs::{self, File};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::mount::{MsFlags, mount};

use crate::scratch::PROGRAMS;

/// Where workloads with an image have their root directory.
pub const IMAGE: &str = "/image";

/// A driver may still be creating its device when its module has been loaded: 5 s in 10 ms steps.
const DEVICE_TRIES: u32 = 500;

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
    attach("cgroup2", "cgroup2", Path::new("/sys/fs/cgroup"))?;
    // Kernel 7.2 gives a new cgroup its perf_event state, which counts migrations, only once its parent
    // has some controller on; pids is the one that changes no scheduling.
    fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+pids")
        .context("cannot switch a cgroup controller on")?;
    // Nice to have: the fingerprint reads the preemption model from debugfs.
    let _ = attach("debugfs", "debugfs", Path::new("/sys/kernel/debug"));
    Ok(())
}

/// Mounts the image and, inside it, what programs expect of a running system.
pub fn image(device: &Path) -> Result<()> {
    await_device(device);
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
    attach("tmpfs", "tmpfs", &root.join("dev/shm"))?;
    attach("devpts", "devpts", &root.join("dev/pts"))?;
    let programs = root.join(PROGRAMS.trim_start_matches('/'));
    fs::create_dir_all(&programs)?;
    fs::copy("/init", programs.join("runoff-agent"))
        .context("cannot copy the agent into the image")?;
    Ok(())
}

fn await_device(device: &Path) {
    for _ in 0..DEVICE_TRIES {
        // Its node is there before the device answers: until then opening it is refused with ENXIO.
        if File::open(device).is_ok() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
}

fn attach(kind: &str, source: &str, target: &Path) -> Result<()> {
    fs::create_dir_all(target)?;
    mount(Some(source), target, Some(kind), MsFlags::empty(), None::<&str>)
        .with_context(|| format!("cannot mount {source} on {}", target.display()))
}
