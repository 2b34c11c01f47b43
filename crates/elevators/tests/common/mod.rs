// SPDX-License-Identifier: GPL-2.0-only
//! What the tests of elevators share.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod reference;

use elevators::{Elevator, MS, Request, Settings, catalogue};

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

/// Serves one request after the other, each in `service_ns`, and says in which order; waits where the
/// elevator says so. Ends when nothing waits.
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

/// Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}
