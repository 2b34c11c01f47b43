// SPDX-License-Identifier: GPL-2.0-only
//! What the workers do until the board says that it is over.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::board::{Board, Slot};
use crate::random::SplitMix;
use crate::work::process::{die_with, now, spawn};

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
    let mut numbers = SplitMix(seed);
    while !board.is_over() {
        let nap = Duration::from_micros(numbers.below(LONGEST_NAP_US));
        slot.ready(now_ns() + u64::try_from(nap.as_nanos()).unwrap_or(0));
        sleep(nap);
        slot.step(now_ns());
        spin(Duration::from_micros(numbers.below(LONGEST_BURST_US)));
    }
    true
}

/// What one of two players holds: both ends of nothing else, so that its end is seen by the other.
pub struct Racket {
    pub from: PipeReader,
    pub to: PipeWriter,
}

/// Sends the ball back until it is over; `serves` starts. False if the other one is gone before.
pub fn player(board: &Board, own: &Slot, other: &Slot, mut racket: Racket, serves: bool) -> bool {
    let mut ball = [0];
    let mut has_ball = serves;
    while !board.is_over() {
        if has_ball {
            // Before the ball is away, because the answer may come at once.
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

/// Starts short children, kills some at once, and waits for all; false if one did not come back.
pub fn storm(children: u64, seed: u64) -> bool {
    let mut numbers = SplitMix(seed);
    let own = Pid::this();
    let mut started = Vec::new();
    for _ in 0..children {
        let fate = numbers.below(4);
        let burst = Duration::from_micros(numbers.below(LONGEST_BURST_US));
        match spawn(|| die_with(own) && short_life(fate, burst)) {
            Ok(child) => started.push((child, fate == DOOMED)),
            Err(_) => return false,
        }
    }
    for (child, doomed) in &started {
        if *doomed && kill(*child, Signal::SIGKILL).is_err() {
            return false;
        }
    }
    started.into_iter().all(|(child, doomed)| {
        let status = waitpid(child, None);
        match status {
            Ok(WaitStatus::Exited(_, 0)) => !doomed,
            Ok(WaitStatus::Signaled(_, Signal::SIGKILL, _)) => doomed,
            _ => false,
        }
    })
}

/// The fate of a child that would run for ever if it were not killed.
const DOOMED: u64 = 3;

fn short_life(fate: u64, burst: Duration) -> bool {
    match fate {
        0 => {}
        1 => sleep(burst),
        2 => spin(burst),
        _ => loop {
            spin(burst);
        },
    }
    true
}

fn spin(time: Duration) {
    let end = now() + time;
    while now() < end {
        std::hint::spin_loop();
    }
}
