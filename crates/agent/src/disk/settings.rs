// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's own queue of the disk: nothing of it may do an elevator's work, unless that is what is wanted.

use super::error::DiskError;
use super::kernel::KernelElevator;
use super::queue::Queue;
use super::setup::{Elevator, Setup};

/// What an elevator of the kernel may have waiting: 128 of each direction, as in 2003.
const KERNEL_REQUESTS: u32 = 256;

/// Of the disk `name`.
pub fn apply(name: &str, setup: &Setup) -> Result<(), DiskError> {
    let queue = Queue::of(name);
    let failed = |what| move |error| DiskError::Ublk { what, error };
    match &setup.elevator {
        Elevator::Ours(_) => {
            queue.choose(KernelElevator::none())?;
        }
        Elevator::Kernel(kernel, given) => {
            queue.choose(kernel)?;
            if kernel.name != "none" {
                let set = queue.write("nr_requests", &KERNEL_REQUESTS.to_string());
                set.map_err(failed("setting nr_requests"))?;
            }
            queue.tune(kernel, given)?;
        }
    }
    queue.write("read_ahead_kb", "128").map_err(failed("setting read_ahead_kb"))?;
    // Throttling of writeback by latency would compete with the elevator; kernels without it have no such file.
    let _ = queue.write("wbt_lat_usec", "0");
    Ok(())
}
