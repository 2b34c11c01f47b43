// SPDX-License-Identifier: GPL-2.0-only
//! PID 1 of the lab's guest: brings a bare kernel to the point where a session can run, then turns
//! the machine off. Its orders are in /boot.json of the initramfs (python/runoff/engines/lab/guest.py).

mod devices;
mod entropy;
mod fw_cfg;
mod mounts;
mod network;
mod ports;
mod quiet;
mod serial;
mod snapshot;

use std::fs::{self, File};
use std::path::PathBuf;

use anyhow::{Context, Result};
use nix::kmod::{ModuleInitFlags, finit_module};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::sync;
use serde::Deserialize;

use crate::booted::ORDERS;
use crate::session::{self, Start};
use devices::{Content, find};
use machine::stop::Stop;
use snapshot::Passed;

/// Soft and hard limit of open files, as systemd sets them in most distributions
/// (DefaultLimitNOFILE). The kernel's own hard limit is 4096.
const OPEN_FILES: (u64, u64) = (1024, 524_288);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Orders {
    /// Kernel modules in the order of their dependencies.
    modules: Vec<PathBuf>,
    /// Whether there is a device with the root file system of workloads.
    image: bool,
    /// Whether there is a device with a file system for what is written.
    disk: bool,
    /// Whether there is a device with swap space.
    swap: bool,
    /// Whether copies are made of this guest once it is quiet; each gets its own `seed` and
    /// `requests`.
    snapshot: bool,
    /// Seed that perturbs everything a deterministic machine would repeat; absent under the real
    /// clock.
    seed: Option<u64>,
    /// A file with the session's requests; absent when they come over the serial port.
    requests: Option<PathBuf>,
}

/// Carries out the lab's orders, and turns the guest off.
pub fn main() -> ! {
    if let Err(error) = run() {
        eprintln!("runoff-agent: the guest cannot start: {error:#}");
    }
    sync();
    let _ = reboot(RebootMode::RB_POWER_OFF);
    // Without ACPI there is no power switch; the end of PID 1 panics the kernel, which ends QEMU too.
    std::process::exit(1);
}

fn run() -> Result<()> {
    mounts::kernel_file_systems()?;
    setrlimit(Resource::RLIMIT_NOFILE, OPEN_FILES.0, OPEN_FILES.1)
        .context("cannot allow more open files")?;
    network::switch_loopback_on()?;
    let orders = fs::read_to_string(ORDERS).with_context(|| format!("cannot read {ORDERS}"))?;
    let orders: Orders =
        serde_json::from_str(&orders).with_context(|| format!("{ORDERS} is not valid"))?;
    for module in &orders.modules {
        load(module).with_context(|| format!("cannot load the module {}", module.display()))?;
    }
    if orders.image {
        mounts::image(&find(Content::FileSystem("runoff"))?)?;
    }
    if orders.disk {
        mounts::disk(&find(Content::FileSystem("scratch"))?, orders.image)?;
    }
    if orders.swap {
        mounts::swap(&find(Content::SwapSpace)?)?;
    }
    let mut port = serial::open()?;
    quiet::wait();
    let stop = Stop::new()?;
    if orders.snapshot {
        // Read once for all copies.
        let mut start = Start::now();
        let Passed { ready, seed, requests } = snapshot::pass(&stop)?;
        entropy::perturb(seed)?;
        start.ready = ready;
        return session::run(requests, &mut port, start, &stop);
    }
    if let Some(seed) = orders.seed {
        entropy::perturb(seed)?;
    }
    match &orders.requests {
        Some(path) => {
            let file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            session::run(file, &mut port, Start::now(), &stop)
        }
        None => session::run(port.try_clone()?, &mut port, Start::now(), &stop),
    }
}

fn load(path: &PathBuf) -> Result<()> {
    Ok(finit_module(File::open(path)?, c"", ModuleInitFlags::empty())?)
}
