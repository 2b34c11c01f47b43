// SPDX-License-Identifier: GPL-2.0-only
//! Any text as a log of requests: it is refused, or replayed to an elevator, which dispatches each
//! request at most once.
#![no_main]

use std::collections::HashSet;

use elevators::catalogue::{self, VARIANTS};
use elevators::replay::Log;
use elevators::{MOST_SECTORS, Settings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let log = match Log::parse(text) {
        Ok(log) => log,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let (name, variant) = VARIANTS[text.len() % VARIANTS.len()];
    let description = catalogue::find(name).expect("it is in the catalogue");
    let settings = Settings::parse(description, variant.iter().copied()).expect("they are allowed");
    let given = log.replay(&settings);
    let ids: HashSet<_> = given.iter().map(|request| request.id).collect();
    assert_eq!(ids.len(), given.len(), "one came out twice");
    assert!(given.iter().all(|request| request.end() <= MOST_SECTORS));
});
