// SPDX-License-Identifier: GPL-2.0-only
//! What workers do until the board says that it is over.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::thread::sleep;
use std::time::Duration;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::board::{Board, Slot};
use machine::clock::now;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Uses the CPU.
    Hog,
    /// Uses the CPU and offers it to others at every step.
    Yielder,
    /// Naps, then uses the CPU for a moment.
    Sleeper,
    /// One of two that send each other a byte.
    Player,
    /// One of a crowd that comes for a moment, all at once.
    Visitor,
}

pub fn now_ns() -> u64 {
    u64::try_from(now().as_nanos()).unwrap_or(u64::MAX)
}

pub fn hog(board: &Board, slot: &Slot) -> bool {
    while !board.is_over() {
        slot.step(now_ns());
    }
    true
}

pub fn yielder(board: &Board, slot: &Slot) -> bool {
    while !board.is_over() {
        std::thread::yield_now();
        slot.step(now_ns());
    }
    true
}

const LONGEST_NAP_US: u64 = 20_000;
const LONGEST_BURST_US: u64 = 2_000;

pub fn sleeper(board: &Board, slot: &Slot, seed: u64) -> bool {
    let mut numbers = SplitMix64::seed_from_u64(seed);
    while !board.is_over() {
        let nap = Duration::from_micros(numbers.next_u64() % LONGEST_NAP_US);
        slot.ready(now_ns() + u64::try_from(nap.as_nanos()).unwrap_or(0));
        sleep(nap);
        slot.step(now_ns());
        spin(Duration::from_micros(numbers.next_u64() % LONGEST_BURST_US));
    }
    true
}

/// The pipe ends of one player. It holds no others, so that the other player sees its end.
pub struct Racket {
    pub from: PipeReader,
    pub to: PipeWriter,
}

/// Sends the ball back until it is over; the player that `serves` starts. Returns false if the
/// other one is gone before.
pub fn player(board: &Board, own: &Slot, other: &Slot, mut racket: Racket, serves: bool) -> bool {
    let mut ball = [0];
    let mut has_ball = serves;
    while !board.is_over() {
        if has_ball {
            // Before the ball is sent, because the answer may come at once.
            own.block();
            other.ready(now_ns());
            if racket.to.write_all(&ball).is_err() {
                return board.is_over();
            }
        }
        if racket.from.read_exact(&mut ball).is_err() {
            return board.is_over();
        }
        own.step(now_ns());
        has_ball = true;
    }
    true
}

/// Time between two moments at which the whole crowd wants to run.
const GATHERING: Duration = Duration::from_secs(1);
const VISIT: Duration = Duration::from_micros(20);

pub fn visitor(board: &Board, slot: &Slot) -> bool {
    while !board.is_over() {
        let past = now();
        let next = GATHERING * (1 + u32::try_from(past.as_secs()).unwrap_or(0));
        slot.ready(u64::try_from(next.as_nanos()).unwrap_or(0));
        sleep(next.saturating_sub(past));
        slot.step(now_ns());
        spin(VISIT);
    }
    true
}

pub fn spin(time: Duration) {
    let end = now() + time;
    while now() < end {
        std::hint::spin_loop();
    }
}
