// SPDX-License-Identifier: GPL-2.0-only
//! Helpers that the tests of elevators share.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod course;
pub mod drawn;
pub mod reference;

use elevators::{Elevator, MS, Request, Settings, catalogue};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

pub fn settings(name: &str, pairs: &[&str]) -> Settings {
    let description = catalogue::find(name).unwrap();
    Settings::parse(description, pairs.iter().copied()).unwrap()
}

pub fn elevator(name: &str, pairs: &[&str]) -> Box<dyn Elevator> {
    catalogue::build(&settings(name, pairs))
}

pub fn ms(value: u64) -> u64 {
    value * MS
}

/// Serves one request after the other, each in `service_ns`; waits when the elevator holds the disk
/// idle. Returns the requests in the order of their service.
pub fn serve_all(elevator: &mut dyn Elevator, mut now: u64, service_ns: u64) -> Vec<Request> {
    let mut served = Vec::new();
    while elevator.queued() > 0 {
        match elevator.next(now) {
            Some(request) => {
                now += service_ns;
                elevator.completed(&request, now);
                served.push(request);
            }
            None => now = elevator.next_timer().expect("it waits for something").max(now),
        }
    }
    served
}

pub fn ids(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|request| request.id).collect()
}

/// Numbers that are the same in every run of a seed.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }
}
