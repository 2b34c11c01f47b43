// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's own elevators and their tunables (Linux block/mq-deadline.c, kyber-iosched.c,
//! bfq-iosched.c).

use std::collections::BTreeMap;

use parameters::{Parameter, ParameterError, assigned};
use serde::Serialize;

use crate::error::QueueError;

/// An elevator of the kernel itself, on a disk whose server only passes requests on.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct KernelElevator {
    pub name: &'static str,
    pub sentence: &'static str,
    /// The kernel module that has it; None if the disk's own module is enough.
    pub module: Option<&'static str>,
    #[serde(rename = "parameters")]
    pub tunables: &'static [Tunable],
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Tunable {
    #[serde(flatten)]
    pub parameter: Parameter,
    /// The tunable's file below queue/iosched.
    #[serde(skip)]
    pub file: &'static str,
    /// Whether the kernel stores it in ticks: a time is rounded up to whole ticks.
    #[serde(skip)]
    in_ticks: bool,
}

/// Tunables of an elevator, each with the value to set.
pub type Tuning = Vec<(&'static Tunable, u64)>;

/// The module of a disk that has no elevator of the kernel.
const DISK_MODULE: &str = "ublk_drv";

/// The longest tick, with CONFIG_HZ=100.
const TICK_MS: u64 = 10;

impl Tunable {
    /// Whether the kernel shows `found` after `wanted` was written.
    pub fn became(&self, wanted: u64, found: u64) -> bool {
        found == wanted || (self.in_ticks && found > wanted && found - wanted < TICK_MS)
    }
}

const fn number(
    file: &'static str,
    name: &'static str,
    unit: &'static str,
    (min, max, default): (u64, u64, u64),
    sentence: &'static str,
) -> Tunable {
    let parameter = Parameter::number(name, unit, min, max, default, sentence);
    Tunable { parameter, file, in_ticks: false }
}

const fn in_ticks(
    file: &'static str,
    name: &'static str,
    limits: (u64, u64, u64),
    sentence: &'static str,
) -> Tunable {
    Tunable { in_ticks: true, ..number(file, name, "ms", limits, sentence) }
}

pub static KERNEL_ELEVATORS: &[KernelElevator] = &[
    KernelElevator {
        name: "none",
        sentence: "The kernel's: no elevator at all.",
        module: None,
        tunables: &[],
    },
    KernelElevator {
        name: "mq-deadline",
        sentence: "The kernel's deadline for several queues.",
        module: Some("mq-deadline"),
        tunables: &[
            in_ticks(
                "read_expire",
                "read_expire_ms",
                (1, 60_000, 500),
                "How long a read may wait before it is the next to start a batch.",
            ),
            in_ticks(
                "write_expire",
                "write_expire_ms",
                (1, 600_000, 5000),
                "The same for a write.",
            ),
            number(
                "writes_starved",
                "writes_starved",
                "1",
                (0, 1000, 2),
                "How many batches of reads may go before waiting writes.",
            ),
            number(
                "front_merges",
                "front_merges",
                "1",
                (0, 1, 1),
                "1: what ends where a waiting request begins is merged with it.",
            ),
            number(
                "fifo_batch",
                "fifo_batch",
                "1",
                (1, 1024, 16),
                "Requests in one batch at most.",
            ),
            in_ticks(
                "prio_aging_expire",
                "prio_aging_expire_ms",
                (1, 600_000, 10_000),
                "How long requests of a lower I/O priority may wait for those of a higher one.",
            ),
        ],
    },
    KernelElevator {
        name: "kyber",
        sentence: "The kernel's: limits how much is under way, for fast devices.",
        module: Some("kyber-iosched"),
        tunables: &[
            number(
                "read_lat_nsec",
                "read_lat_nsec",
                "ns",
                (1000, 10_000_000_000, 2_000_000),
                "The latency of reads that the limits are adapted to.",
            ),
            number(
                "write_lat_nsec",
                "write_lat_nsec",
                "ns",
                (1000, 10_000_000_000, 10_000_000),
                "The same for synchronous writes.",
            ),
        ],
    },
    KernelElevator {
        name: "bfq",
        sentence: "The kernel's budget fair queueing, which came from cfq.",
        module: Some("bfq"),
        tunables: BFQ,
    },
];

static BFQ: &[Tunable] = &[
    number(
        "slice_idle_us",
        "slice_idle_us",
        "us",
        (0, 1_000_000, 8000),
        "How long the disk waits for the next request of a process; 0: never.",
    ),
    number(
        "low_latency",
        "low_latency",
        "1",
        (0, 1, 1),
        "1: interactive and soft real-time processes get more.",
    ),
    in_ticks(
        "timeout_sync",
        "timeout_sync_ms",
        (1, 60_000, 125),
        "How long a process may have the disk, however little it asks for.",
    ),
    number(
        "max_budget",
        "max_budget_sectors",
        "sectors",
        (0, 1_000_000_000, 0),
        "What a process may ask for in its turn; 0: what fits into timeout_sync_ms at the disk's rate.",
    ),
    number(
        "back_seek_max",
        "back_seek_max_kb",
        "kb",
        (0, 1 << 30, 16_384),
        "The farthest that the head may go back.",
    ),
    number(
        "back_seek_penalty",
        "back_seek_penalty",
        "1",
        (1, 100, 2),
        "How much farther a way back counts.",
    ),
    number(
        "fifo_expire_sync",
        "fifo_expire_sync_ms",
        "ms",
        (1, 60_000, 125),
        "A synchronous request that waits longer is the next of its process.",
    ),
    number(
        "fifo_expire_async",
        "fifo_expire_async_ms",
        "ms",
        (1, 600_000, 250),
        "The same for one that nobody waits for.",
    ),
    number(
        "strict_guarantees",
        "strict_guarantees",
        "1",
        (0, 1, 0),
        "1: one request at a time, and the disk always waits; wants slice_idle_us of 8000 or more.",
    ),
];

impl KernelElevator {
    /// The module to load if the kernel does not know this elevator.
    pub fn missing_module(&self) -> &'static str {
        self.module.unwrap_or(DISK_MODULE)
    }

    /// The elevator that lets requests pass as they come.
    pub fn none() -> &'static Self {
        Self::find("none").expect("it is in the catalogue")
    }

    /// Finds an elevator of the kernel by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KERNEL_ELEVATORS.iter().find(|elevator| elevator.name == name)
    }

    /// Finds an elevator of the kernel by its name, with `parameters` as numbers for its files.
    ///
    /// # Errors
    /// The kernel has no such elevator, or the elevator has no such parameter or value.
    pub fn find_with(
        name: &str,
        parameters: &BTreeMap<String, String>,
    ) -> Result<(&'static Self, Tuning), QueueError> {
        let known = KERNEL_ELEVATORS.iter().map(|kernel| kernel.name);
        let kernel = Self::find(name).ok_or_else(|| QueueError::unknown_elevator(name, known))?;
        let pairs: Vec<_> =
            parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let refused = |error| QueueError::BadParameter { owner: name.into(), error };
        Ok((kernel, kernel.parse(&pairs).map_err(refused)?))
    }

    /// Parses `pairs` of `key=value` as numbers for its files.
    ///
    /// # Errors
    /// The first pair that is not key=value, names no tunable, is out of range or given twice.
    pub fn parse(&self, pairs: &[String]) -> Result<Tuning, ParameterError> {
        let parameters = self.tunables.iter().map(|tunable| &tunable.parameter);
        let given = assigned(self.name, parameters, pairs.iter().map(String::as_str))?;
        let tunable = |parameter: &Parameter| {
            let mut tunables = self.tunables.iter();
            tunables.find(|tunable| tunable.parameter == *parameter).expect("it is one of them")
        };
        Ok(given.into_iter().map(|(parameter, value)| (tunable(parameter), value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, pairs: &[&str]) -> Result<Vec<(&'static str, u64)>, String> {
        let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
        let parsed = KernelElevator::find(name).unwrap().parse(&pairs);
        let files = |given: Vec<(&Tunable, u64)>| {
            given.iter().map(|(tunable, value)| (tunable.file, *value)).collect()
        };
        parsed.map(files).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tunable_has_its_unit_in_its_name_and_not_in_its_file() {
        assert_eq!(
            parse("mq-deadline", &["read_expire_ms=100", "fifo_batch=4"]),
            Ok(vec![("read_expire", 100), ("fifo_batch", 4)])
        );
        assert_eq!(parse("bfq", &["slice_idle_us=0"]), Ok(vec![("slice_idle_us", 0)]));
        for tunable in KERNEL_ELEVATORS.iter().flat_map(|elevator| elevator.tunables) {
            assert!(tunable.parameter.name.starts_with(tunable.file), "{}", tunable.file);
        }
    }

    #[test]
    fn values_that_the_kernel_would_refuse_are_refused() {
        let refusal = |name, pairs: &[&str]| parse(name, pairs).unwrap_err();
        assert!(refusal("bfq", &["slice_idle=0"]).contains("it has slice_idle_us, low_latency"));
        assert!(refusal("bfq", &["low_latency=2"]).contains("0..1"));
        assert!(
            refusal("kyber", &["read_lat_nsec=1", "read_lat_nsec=1"])
                .contains("1000..10000000000 ns")
        );
        assert!(refusal("none", &["x=1"]).ends_with("it has none"));
        let twice = refusal("mq-deadline", &["fifo_batch=1", "fifo_batch=2"]);
        assert!(twice.contains("twice"), "{twice}");
    }

    #[test]
    fn ticks_are_rounded_up_and_nothing_else_is() {
        let tunable = |name: &str, file: &str| {
            let mut tunables = KernelElevator::find(name).unwrap().tunables.iter();
            tunables.find(|tunable| tunable.file == file).unwrap()
        };
        let expire = tunable("mq-deadline", "read_expire");
        assert!(
            expire.became(6, 6)
                && expire.became(6, 8)
                && !expire.became(6, 16)
                && !expire.became(6, 4)
        );
        let idle = tunable("bfq", "slice_idle_us");
        assert!(idle.became(6, 6) && !idle.became(6, 8));
    }
}
