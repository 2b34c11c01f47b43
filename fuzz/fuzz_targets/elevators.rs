// SPDX-License-Identifier: GPL-2.0-only
//! Any events for any elevator with any values of its parameters: each request comes out once, and nothing panics.
#![no_main]

#[path = "../../crates/elevators/tests/common/course.rs"]
mod course;
#[path = "../../crates/elevators/tests/common/drawn.rs"]
mod drawn;

use course::Event;
use drawn::Drawn;
use elevators::catalogue::{self, VARIANTS};
use elevators::{Class, MOST_SECTORS, Priority, Request};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// Most events; more only make a case slower.
const MOST_EVENTS: usize = 1000;

#[derive(Debug, Arbitrary)]
struct Case {
    variant: u8,
    depth: u8,
    draws: [Draw; 20],
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Draw {
    Usual,
    Least,
    Most,
    Within(u32),
}

#[derive(Debug, Arbitrary)]
enum Step {
    Arrives {
        kind: u8,
        context: u8,
        place: Place,
        sectors: u16,
        priority: u8,
    },
    Exits(u8),
    /// Nanoseconds, and how far to shift them.
    Passes(u16, u8),
    Asks,
    Completes,
}

#[derive(Debug, Arbitrary)]
enum Place {
    Near(u8),
    FromEnd(u8),
    Anywhere(u64),
}

impl From<Draw> for Drawn {
    fn from(draw: Draw) -> Self {
        match draw {
            Draw::Usual => Self::Usual,
            Draw::Least => Self::Least,
            Draw::Most => Self::Most,
            Draw::Within(far) => Self::Within(far.into()),
        }
    }
}

impl From<Step> for Event {
    fn from(step: Step) -> Self {
        match step {
            Step::Arrives { kind, context, place, sectors, priority } => {
                Self::Arrives(request(kind, context % 8, &place, sectors, priority))
            }
            Step::Exits(context) => Self::Exits(u64::from(context % 8)),
            Step::Passes(part, shift) => Self::Passes(u64::from(part) << (shift % 40)),
            Step::Asks => Self::Asks,
            Step::Completes => Self::Completes,
        }
    }
}

fn request(kind: u8, context: u8, place: &Place, sectors: u16, priority: u8) -> Request {
    let (context, sectors) = (u64::from(context), u64::from(sectors));
    let first = match place {
        Place::Near(first) => u64::from(*first),
        Place::FromEnd(last) => MOST_SECTORS - sectors - u64::from(*last),
        Place::Anywhere(first) => first % (MOST_SECTORS - sectors),
    };
    let request = match kind % 8 {
        0 => return Request::flush(0, context),
        1..4 => Request::write(0, context, first, sectors),
        _ => Request::read(0, context, first, sectors),
    };
    let class = [Class::RealTime, Class::BestEffort, Class::Idle][usize::from(priority / 8 % 3)];
    let priority = Priority { class, level: priority % 8 };
    let (sync, barrier) = (request.sync || kind & 8 != 0, kind > 250);
    Request { sync, priority, barrier, ..request }
}

fuzz_target!(|case: Case| {
    let (name, variant) = VARIANTS[usize::from(case.variant) % VARIANTS.len()];
    let mut draws = case.draws.into_iter().cycle();
    let description = catalogue::find(name).expect("it is in the catalogue");
    let settings =
        drawn::settings(description, variant, || draws.next().expect("it goes on").into());
    let events = case.steps.into_iter().take(MOST_EVENTS).map(Event::from);
    course::run(&settings, usize::from(case.depth % 6) + 1, events);
});
