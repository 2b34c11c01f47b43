// SPDX-License-Identifier: GPL-2.0-only
//! Every elevator with any values of all its parameters: nothing overflows, and every request comes out once.

mod common;

use common::course::{self, Event};
use common::drawn::{self, Drawn};
use elevators::catalogue::{self, VARIANTS};
use elevators::{Class, MOST_SECTORS, Priority, Request};
use proptest::prelude::*;

fn drawn() -> impl Strategy<Value = Drawn> {
    prop_oneof![
        Just(Drawn::Least),
        Just(Drawn::Most),
        Just(Drawn::Usual),
        any::<u64>().prop_map(Drawn::Within)
    ]
}

fn priority() -> impl Strategy<Value = Priority> {
    let class = prop::sample::select(vec![Class::RealTime, Class::BestEffort, Class::Idle]);
    (class, 0..8u8).prop_map(|(class, level)| Priority { class, level })
}

fn request() -> impl Strategy<Value = Request> {
    // Near requests, which touch, and some at the end of the largest disk.
    let first =
        prop_oneof![0..64u64, MOST_SECTORS - 2112..MOST_SECTORS - 2048, 0..MOST_SECTORS - 2048];
    (first, 0..2048u64, 0..5u64, priority(), 0..12u8).prop_map(
        |(first, sectors, context, priority, kind)| {
            let request = match kind {
                0 => return Request::flush(0, context),
                1..4 => Request::write(0, context, first, sectors % 16),
                4 => Request { sync: true, ..Request::write(0, context, first, sectors) },
                5 => Request::read(0, context, first, sectors),
                _ => Request::read(0, context, first, sectors % 16),
            };
            Request { priority, barrier: kind == 1 && sectors == 7, ..request }
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let longest = [1, 1_000_000, 1_000_000_000, 4_000_000_000_000_000];
    let passes = (prop::sample::select(longest.to_vec()), any::<u64>());
    prop_oneof![
        4 => request().prop_map(Event::Arrives),
        1 => (0..5u64).prop_map(Event::Exits),
        2 => passes.prop_map(|(longest, part)| Event::Passes(part % (longest + 1))),
        3 => Just(Event::Asks),
        3 => Just(Event::Completes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_with_any_parameters(
        draws in prop::collection::vec(drawn(), 30),
        depth in 1..5usize,
        events in prop::collection::vec(event(), 1..200),
    ) {
        for (name, variant) in VARIANTS {
            let mut draws = draws.iter().copied().cycle();
            let description = catalogue::find(name).unwrap();
            let settings = drawn::settings(description, variant, || draws.next().unwrap());
            course::run(&settings, depth, events.iter().cloned());
        }
    }
}
