// SPDX-License-Identifier: GPL-2.0-only
//! Perturbation for a deterministic machine: repeating an exact run adds no information, so each
//! block shifts start phase, process numbers, address layout and entropy by its seed.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::libc;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Longest shift of the start phase: four ticks of a 250 Hz kernel.
const PHASE_LIMIT_NS: u64 = 16_000_000;

/// Process numbers start up to this far away.
const PID_SHIFT: u64 = 20_000;

/// Shifts everything by `seed`: the same seed gives the same shifts.
pub fn perturb(seed: u64) -> Result<()> {
    let mut numbers = SplitMix64::seed_from_u64(seed);
    add_entropy(&mut numbers).context("cannot seed the kernel's random numbers")?;
    let pid = 300 + numbers.next_u64() % PID_SHIFT;
    fs::write("/proc/sys/kernel/ns_last_pid", pid.to_string())
        .context("cannot shift process numbers")?;
    shift_phase(Duration::from_nanos(numbers.next_u64() % PHASE_LIMIT_NS));
    Ok(())
}

/// Waits busily: a sleep would end on a timer's grid and lose the shift.
fn shift_phase(shift: Duration) {
    let start = Instant::now();
    while start.elapsed() < shift {
        std::hint::spin_loop();
    }
}

/// `struct rand_pool_info` of linux/random.h with room for 64 bytes.
#[repr(C)]
struct Pool {
    entropy_bits: libc::c_int,
    size_bytes: libc::c_int,
    bytes: [u8; 64],
}

fn add_entropy(numbers: &mut SplitMix64) -> Result<()> {
    /// _IOW('R', 0x03, int[2]) and _IO('R', 0x07) of linux/random.h.
    const RNDADDENTROPY: libc::Ioctl = 0x4008_5203;
    const RNDRESEEDCRNG: libc::Ioctl = 0x5207;

    let mut pool = Pool { entropy_bits: 512, size_bytes: 64, bytes: [0; 64] };
    for chunk in pool.bytes.chunks_exact_mut(8) {
        chunk.copy_from_slice(&numbers.next_u64().to_le_bytes());
    }
    let device = File::options().write(true).open("/dev/random")?;
    // SAFETY: `pool` has the layout the first request reads; the second takes no argument.
    unsafe {
        nix::errno::Errno::result(libc::ioctl(device.as_raw_fd(), RNDADDENTROPY, &raw const pool))?;
        nix::errno::Errno::result(libc::ioctl(device.as_raw_fd(), RNDRESEEDCRNG))?;
    }
    Ok(())
}
