// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's queue in front of a disk of runoff.

use block_queue::kernel::{KernelElevator, Tuning};
use block_queue::kernel_queue::KernelQueue;

use crate::error::DiskError;
use crate::setup::ChosenElevator;

/// Most requests that wait in an elevator of the kernel: 128 of each direction, as in 2003.
const KERNEL_REQUESTS: &str = "256";

/// Prepares the queue of `disk`, as /sys/block names it: the kernel does an elevator's work in it
/// only if that is wanted.
///
/// # Errors
/// The kernel does not take the elevator, or a setting.
pub fn prepare(disk: &str, elevator: &ChosenElevator) -> Result<(), DiskError> {
    let queue = KernelQueue::of(disk);
    match elevator {
        ChosenElevator::Ours(_) => queue.choose(KernelElevator::none())?,
        ChosenElevator::Kernel(kernel, tuning) => put_in_charge(&queue, kernel, tuning)?,
    }
    queue.write("read_ahead_kb", "128").map_err(failed("setting read_ahead_kb"))?;
    // Throttling of writeback by latency would compete with the elevator; kernels without it have no such file.
    let _ = queue.write("wbt_lat_usec", "0");
    Ok(())
}

fn put_in_charge(
    queue: &KernelQueue,
    kernel: &KernelElevator,
    tuning: &Tuning,
) -> Result<(), DiskError> {
    queue.choose(kernel)?;
    if kernel.name != "none" {
        let set = queue.write("nr_requests", KERNEL_REQUESTS);
        set.map_err(failed("setting nr_requests"))?;
    }
    Ok(queue.tune(kernel, tuning)?)
}

fn failed(what: &'static str) -> impl FnOnce(std::io::Error) -> DiskError {
    move |error| DiskError::Ublk { what, error }
}
