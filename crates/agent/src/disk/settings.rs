// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's own queue of the disk: nothing of it may do an elevator's work, unless that is what is wanted.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::DiskError;
use super::kernel::{KernelElevator, Tunable};
use super::setup::{Elevator, Setup};

/// What an elevator of the kernel may have waiting: 128 of each direction, as in 2003.
const KERNEL_REQUESTS: u32 = 256;

/// Of the disk `name`.
pub fn apply(name: &str, setup: &Setup) -> Result<(), DiskError> {
    let queue = PathBuf::from("/sys/block").join(name).join("queue");
    let write = |file: &str, value: &str| fs::write(queue.join(file), value);
    let failed = |what| move |error| DiskError::Ublk { what, error };
    match &setup.elevator {
        Elevator::Ours(_) => {
            write("scheduler", "none").map_err(failed("taking the kernel's elevator away"))?;
        }
        Elevator::Kernel(kernel, given) => {
            write("scheduler", kernel.name).map_err(|_| DiskError::NoKernelElevator {
                name: kernel.name.into(),
                device: name.into(),
                module: kernel.module.into(),
            })?;
            if kernel.name != "none" {
                write("nr_requests", &KERNEL_REQUESTS.to_string())
                    .map_err(failed("setting nr_requests"))?;
            }
            tune(&queue.join("iosched"), kernel, given)?;
        }
    }
    write("read_ahead_kb", "128").map_err(failed("setting read_ahead_kb"))?;
    // Throttling of writeback by latency would compete with the elevator; kernels without it have no such file.
    let _ = write("wbt_lat_usec", "0");
    Ok(())
}

/// Sets what was given, and looks at all of it when the last has been set: one can change another.
fn tune(
    directory: &Path,
    kernel: &KernelElevator,
    given: &[(&'static Tunable, u64)],
) -> Result<(), DiskError> {
    let failed = |tunable: &Tunable| {
        let (name, file) = (kernel.name.into(), tunable.file.into());
        move |error| DiskError::NoTunable { name, file, error }
    };
    for (tunable, wanted) in given {
        fs::write(directory.join(tunable.file), wanted.to_string()).map_err(failed(tunable))?;
    }
    for (tunable, wanted) in given {
        let text = fs::read_to_string(directory.join(tunable.file)).map_err(failed(tunable))?;
        let found = text.trim();
        if !found.parse().is_ok_and(|found| tunable.became(*wanted, found)) {
            return Err(DiskError::NotTaken {
                name: kernel.name.into(),
                file: tunable.file.into(),
                wanted: *wanted,
                found: found.into(),
            });
        }
    }
    Ok(())
}
