// SPDX-License-Identifier: GPL-2.0-only
//! Every elevator with its parameters; they are described only here.

use parameters::{Description, Parameter, Settings};

use crate::anticipatory::Anticipatory;
use crate::cfq::rounds::Rounds;
use crate::cfq::sliced::Sliced;
use crate::deadline::Deadline;
use crate::deadline::mq::MqDeadline;
use crate::elevator::Elevator;
use crate::noop::Noop;

/// Parameters of the queue around every elevator.
const QUEUE: &[Parameter] = &[
    Parameter::number(
        "nr_requests",
        "1",
        4,
        10_000,
        128,
        "Requests of each direction that may wait or be in flight.",
    ),
    Parameter::number("max_sectors_kb", "kb", 4, 1024, 128, "Nothing is merged to more than this."),
];

const DEADLINE: &[Parameter] = &[
    Parameter::choice(
        "variant",
        &["2.5.63", "2.5.63-mm2", "mq"],
        "2.5.63-mm2",
        "2.5.63 and 2.5.63-mm2: 2003, without and with the fix that ends a batch at a gap; mq: that of blk-mq.",
    ),
    Parameter::number(
        "read_expire_ms",
        "ms",
        1,
        60_000,
        500,
        "A read that waits longer is served when a batch ends.",
    ),
    Parameter::number("write_expire_ms", "ms", 1, 600_000, 5000, "The same for a write."),
    Parameter::number(
        "writes_starved",
        "1",
        0,
        1000,
        2,
        "How often reads may be preferred while writes wait.",
    ),
    Parameter::number("fifo_batch", "1", 1, 1024, 16, "Requests in one batch at most."),
    Parameter::number(
        "front_merges",
        "1",
        0,
        1,
        1,
        "1: a request may be joined to the front of another.",
    ),
    Parameter::number(
        "prio_aging_expire_ms",
        "ms",
        1,
        600_000,
        10_000,
        "A request of a worse class that waits longer goes before better classes.",
    )
    .only(&["mq"]),
];

const ANTICIPATORY: &[Parameter] = &[
    Parameter::choice(
        "variant",
        &["2003", "2.6"],
        "2.6",
        "2003: waits for every reader; 2.6: only for those whose think times and seeks make it pay.",
    ),
    Parameter::number(
        "read_expire_ms",
        "ms",
        1,
        60_000,
        125,
        "How often, at most, the oldest read is served first if it waits longer.",
    ),
    Parameter::number("write_expire_ms", "ms", 1, 600_000, 250, "The same for a write."),
    Parameter::number(
        "read_batch_expire_ms",
        "ms",
        1,
        60_000,
        500,
        "How long a batch of reads lasts while writes wait.",
    ),
    Parameter::number(
        "write_batch_expire_ms",
        "ms",
        1,
        60_000,
        125,
        "How long a batch of writes lasts while reads wait.",
    ),
    Parameter::number(
        "antic_expire_ms",
        "ms",
        0,
        1000,
        6,
        "How long the disk waits for the next read of a process; 0: never.",
    ),
];

const CFQ: &[Parameter] = &[
    Parameter::choice(
        "variant",
        &["2003", "sliced"],
        "sliced",
        "2003: a round of requests from every process (CFQ #2); sliced: time slices (2.6.13 and later).",
    ),
    Parameter::number(
        "quantum",
        "1",
        1,
        1024,
        4,
        "2003: requests taken in one go at least; sliced: of a process in flight at most.",
    ),
    Parameter::number(
        "queued",
        "1",
        1,
        128,
        8,
        "Requests that each process may have whatever its share of the pool.",
    )
    .only(&["2003"]),
    Parameter::number("quirks", "1", 0, 1, 0, "1: with the three errors of the posted patch.")
        .only(&["2003"]),
    Parameter::number(
        "fifo_expire_sync_ms",
        "ms",
        1,
        60_000,
        125,
        "A synchronous request that waits longer is first in its process's next slice.",
    )
    .only(SLICED),
    Parameter::number(
        "fifo_expire_async_ms",
        "ms",
        1,
        600_000,
        250,
        "The same for one that nobody waits for.",
    )
    .only(SLICED),
    Parameter::number(
        "back_seek_max_kb",
        "kb",
        0,
        1 << 30,
        16 * 1024,
        "The farthest that the head may go back.",
    )
    .only(SLICED),
    Parameter::number("back_seek_penalty", "1", 1, 100, 2, "How much farther a way back counts.")
        .only(SLICED),
    Parameter::number("slice_sync_ms", "ms", 1, 10_000, 100, "The slice of a process at level 4.")
        .only(SLICED),
    Parameter::number(
        "slice_async_ms",
        "ms",
        1,
        10_000,
        40,
        "The slice of the writes that nobody waits for, at level 4.",
    )
    .only(SLICED),
    Parameter::number(
        "slice_async_rq",
        "1",
        1,
        1000,
        2,
        "Scales how many of them are dispatched in a slice.",
    )
    .only(SLICED),
    Parameter::number(
        "slice_idle_ms",
        "ms",
        0,
        1000,
        8,
        "How long the disk waits for a process in its slice; 0: never.",
    )
    .only(SLICED),
    Parameter::number(
        "low_latency",
        "1",
        0,
        1,
        1,
        "1: slices are shortened to keep target_latency_ms.",
    )
    .only(SLICED),
    Parameter::number(
        "target_latency_ms",
        "ms",
        1,
        60_000,
        300,
        "How long a turn of all processes should take.",
    )
    .only(SLICED),
];

const SLICED: &[&str] = &["sliced"];

/// All elevators, in the order of their history.
pub static ELEVATORS: &[Description] = &[
    Description { name: "noop", sentence: "First come, first served.", parameters: &[QUEUE] },
    Description {
        name: "deadline",
        sentence: "Batches in order of sectors, reads before writes, nobody waits much longer than its expiry.",
        parameters: &[DEADLINE, QUEUE],
    },
    Description {
        name: "anticipatory",
        sentence: "Deadline that waits a moment after each read for the next one of the same process.",
        parameters: &[ANTICIPATORY, QUEUE],
    },
    Description {
        name: "cfq",
        sentence: "Every process gets an equal share of the disk.",
        parameters: &[CFQ, QUEUE],
    },
];

/// Every variant of every elevator, with the parameters that select it, for callers that try all.
pub const VARIANTS: &[(&str, &[&str])] = &[
    ("noop", &[]),
    ("deadline", &["variant=2.5.63"]),
    ("deadline", &["variant=2.5.63-mm2"]),
    ("deadline", &["variant=mq"]),
    ("anticipatory", &["variant=2003"]),
    ("anticipatory", &["variant=2.6"]),
    ("cfq", &["variant=2003"]),
    ("cfq", &["variant=2003", "quirks=1"]),
    ("cfq", &["variant=sliced"]),
];

/// The elevator of that name.
pub fn find(name: &str) -> Option<&'static Description> {
    ELEVATORS.iter().find(|description| description.name == name)
}

/// The elevator without the queue around it.
///
/// # Panics
/// If `settings` are not of one of [`ELEVATORS`].
pub fn build(settings: &Settings) -> Box<dyn Elevator> {
    match (settings.description.name, settings.choice("variant")) {
        ("noop", _) => Box::new(Noop::default()),
        ("deadline", "mq") => Box::new(MqDeadline::new(settings)),
        ("deadline", _) => Box::new(Deadline::new(settings)),
        ("anticipatory", _) => Box::new(Anticipatory::new(settings)),
        ("cfq", "2003") => Box::new(Rounds::new(settings)),
        ("cfq", _) => Box::new(Sliced::new(settings)),
        (other, _) => panic!("{other} is not an elevator"),
    }
}

#[cfg(test)]
mod tests {
    use parameters::Allowed;

    use super::*;

    #[test]
    fn no_variant_of_any_elevator_is_left_out() {
        for description in ELEVATORS {
            let mine: Vec<_> =
                VARIANTS.iter().filter(|(name, _)| *name == description.name).collect();
            assert!(!mine.is_empty(), "{}", description.name);
            let variant = description.all_parameters().find(|each| each.name == "variant");
            let Some(Allowed::Choices { choices }) = variant.map(|each| each.allowed) else {
                continue;
            };
            for choice in choices {
                let given = format!("variant={choice}");
                assert!(mine.iter().any(|(_, pairs)| pairs.contains(&&*given)), "{given}");
            }
        }
    }
}
