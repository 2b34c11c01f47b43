// SPDX-License-Identifier: GPL-2.0-only
//! mem_load: more memory than there is, touched in an order that caches do not help with, so that
//! the machine swaps; sizes and order are those of interbench 0.31, which took them from contest.

use anyhow::{Result, ensure};
use clap::Args;
use nix::libc;

use super::done::Done;
use super::end::EndFlag;
use super::ready::say_ready;
use super::sizes::memory_and_swap;
use crate::figures::as_f64;

const BLOCK: usize = 1 << 20;
const RESERVE: u64 = 64 << 10;

#[derive(Args)]
pub struct Memory {
    /// How much; 0 is 110 % of the memory, but never all of memory and swap
    #[arg(long, value_name = "MB", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1 << 20))]
    size_mb: u64,
}

impl Memory {
    pub fn run(&self, flag: &EndFlag) -> Result<Done> {
        let (memory, swap) = memory_and_swap()?;
        ensure!(swap > 0, "the machine has no swap, so the load cannot make it swap");
        let most = (memory + swap).saturating_sub(RESERVE) >> 20;
        ensure!(
            self.size_mb <= most,
            "{} MB are more than memory and swap have, which is {most} MB",
            self.size_mb
        );
        let wanted =
            if self.size_mb == 0 { most.min((memory / 10 * 11) >> 20) } else { self.size_mb };
        die_first();
        let mut done = Done::default();
        say_ready()?;
        while !flag.is_set() {
            let mut blocks = allocate(usize::try_from(wanted)?, flag);
            done.bytes_written += (blocks.len() * BLOCK) as u64;
            if copy_around(&mut blocks, &mut done, flag) {
                done.passes += 1;
            }
        }
        done.units = as_f64(done.bytes_read) / as_f64(BLOCK);
        Ok(done)
    }
}

/// Makes the kernel kill this process and not the measured work if memory runs out.
fn die_first() {
    // Without the right to do so, the kernel's own choice may still be this process.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// Allocates up to `count` blocks, as memory allows, each written in full.
fn allocate(count: usize, flag: &EndFlag) -> Vec<Box<[u8]>> {
    let mut blocks = Vec::with_capacity(count);
    while blocks.len() < count && !flag.is_set() {
        let mut block = Vec::new();
        if block.try_reserve_exact(BLOCK).is_err() {
            break;
        }
        block.resize(BLOCK, blocks.len().to_le_bytes()[0] | 1);
        blocks.push(block.into_boxed_slice());
    }
    blocks
}

/// Copies each block over the one half a round before it, which has been swapped out by then.
fn copy_around(blocks: &mut [Box<[u8]>], done: &mut Done, flag: &EndFlag) -> bool {
    let count = blocks.len();
    for to in 0..count {
        if flag.is_set() {
            return false;
        }
        let from = (to + count / 2) % count;
        if let Ok([to, from]) = blocks.get_disjoint_mut([to, from]) {
            to.copy_from_slice(from);
        }
        done.bytes_read += BLOCK as u64;
        done.bytes_written += BLOCK as u64;
    }
    // Otherwise the allocator would keep the freed memory for the next round.
    // SAFETY: a plain call into the allocator.
    unsafe { libc::malloc_trim(0) };
    count > 0
}
