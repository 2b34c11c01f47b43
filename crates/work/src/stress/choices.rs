// SPDX-License-Identifier: GPL-2.0-only
//! Chooses what happens next: a pure function of the seed, so that a run can be repeated.

use std::time::Duration;

use machine::sched::Policy;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Number of limits: each quota with each weight.
const LIMIT_CHOICES: u64 = 9;

/// The longest time between two actions.
const LONGEST_PAUSE_US: u64 = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Bit n lets the worker use the nth of the CPUs that are online.
    Affinity {
        worker: usize,
        bits: u64,
    },
    Nice {
        worker: usize,
        nice: i8,
    },
    Policy {
        worker: usize,
        policy: Policy,
    },
    /// Stops a worker, or lets a stopped one go on.
    Stop {
        worker: usize,
    },
    /// A process that starts `children` short ones and waits for them.
    Storm {
        children: u64,
        seed: u64,
    },
    /// Every worker gets a nice value.
    NiceStorm {
        seed: u64,
    },
    /// Switches the nth CPU that may be switched off, or on again.
    Hotplug {
        cpu: usize,
    },
    /// Moves a worker to a control group.
    Group {
        worker: usize,
        group: usize,
    },
    /// Changes the limits of a control group.
    Limit {
        group: usize,
        choice: usize,
    },
}

pub struct Choices {
    numbers: SplitMix64,
    workers: u64,
    switchable_cpus: u64,
    groups: u64,
}

impl Choices {
    pub fn new(seed: u64, workers: usize, switchable_cpus: usize, groups: usize) -> Self {
        Self {
            numbers: SplitMix64::seed_from_u64(seed),
            workers: workers as u64,
            switchable_cpus: switchable_cpus as u64,
            groups: groups as u64,
        }
    }

    /// The next action, and how long to wait after it.
    pub fn next(&mut self) -> (Action, Duration) {
        let kinds = match (self.switchable_cpus, self.groups) {
            (0, 0) => 96,
            (_, 0) => 100,
            _ => 112,
        };
        let kind = self.numbers.next_u64() % kinds;
        let worker = self.number(self.workers);
        let action = match kind {
            0..24 => Action::Affinity { worker, bits: self.numbers.next_u64() },
            24..44 => Action::Nice { worker, nice: self.nice() },
            44..64 => Action::Stop { worker },
            64..80 => Action::Policy { worker, policy: self.policy() },
            80..94 => Action::Storm {
                children: 1 + self.numbers.next_u64() % 24,
                seed: self.numbers.next_u64(),
            },
            94..96 => Action::NiceStorm { seed: self.numbers.next_u64() },
            96..100 if self.switchable_cpus > 0 => {
                Action::Hotplug { cpu: self.number(self.switchable_cpus) }
            }
            110.. => Action::Limit {
                group: self.number(self.groups),
                choice: self.number(LIMIT_CHOICES),
            },
            _ => Action::Group { worker, group: self.number(self.groups) },
        };
        (action, Duration::from_micros(self.numbers.next_u64() % LONGEST_PAUSE_US))
    }

    fn number(&mut self, limit: u64) -> usize {
        usize::try_from(self.numbers.next_u64() % limit).unwrap_or(0)
    }

    fn nice(&mut self) -> i8 {
        nice_value(self.numbers.next_u64())
    }

    fn policy(&mut self) -> Policy {
        match self.numbers.next_u64() % 3 {
            0 => Policy::Normal,
            1 => Policy::Batch,
            _ => Policy::Idle,
        }
    }
}

/// Nice values by `seed`, without end.
pub fn nice_values(seed: u64) -> impl Iterator<Item = i8> {
    let mut numbers = SplitMix64::seed_from_u64(seed);
    std::iter::repeat_with(move || nice_value(numbers.next_u64()))
}

/// A nice value, -20 to 19.
fn nice_value(number: u64) -> i8 {
    i8::try_from(number % 40).unwrap_or(0) - 20
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, count: usize) -> Vec<(Action, Duration)> {
        let mut choices = Choices::new(seed, 12, 1, 3);
        (0..count).map(|_| choices.next()).collect()
    }

    #[test]
    fn a_seed_stands_for_one_sequence() {
        assert_eq!(first(7, 1000), first(7, 1000));
        assert_ne!(first(7, 1000), first(8, 1000));
    }

    fn first_without_groups(seed: u64, count: usize) -> Vec<(Action, Duration)> {
        let mut choices = Choices::new(seed, 12, 1, 0);
        (0..count).map(|_| choices.next()).collect()
    }

    #[test]
    fn a_seed_stands_for_the_same_sequence_for_ever() {
        // Published check values of SplitMix64 for this seed.
        let mut numbers = SplitMix64::seed_from_u64(1_234_567);
        assert_eq!(numbers.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(numbers.next_u64(), 3_203_168_211_198_807_973);
        // Computed independently, after Steele, Lea, Flood: Fast splittable pseudorandom number
        // generators (2014).
        let us = Duration::from_micros;
        let expected = [
            (Action::Storm { children: 19, seed: 10753165928301472203 }, us(3674)),
            (Action::Affinity { worker: 10, bits: 6051947643683389182 }, us(7985)),
            (Action::Nice { worker: 7, nice: 16 }, us(8990)),
            (Action::Stop { worker: 6 }, us(4680)),
        ];
        assert_eq!(first_without_groups(7, 4), expected);
    }

    #[test]
    fn everything_happens_within_its_limits() {
        let mut seen = [0; 9];
        for (action, pause) in first(1, 2000) {
            assert!(pause < Duration::from_millis(10));
            let kind = match action {
                Action::Affinity { worker, .. } if worker < 12 => 0,
                Action::Nice { worker, nice } if worker < 12 && (-20..=19).contains(&nice) => 1,
                Action::Policy { worker, .. } if worker < 12 => 2,
                Action::Stop { worker } if worker < 12 => 3,
                Action::Storm { children: 1..=24, .. } => 4,
                Action::Hotplug { cpu: 0 } => 5,
                Action::NiceStorm { .. } => 6,
                Action::Group { worker, group } if worker < 12 && group < 3 => 7,
                Action::Limit { group, choice } if group < 3 && choice < 9 => 8,
                other => panic!("out of its limits: {other:?}"),
            };
            seen[kind] += 1;
        }
        assert!(seen.iter().all(|&times| times > 20), "{seen:?}");
    }

    #[test]
    fn hotplug_and_groups_happen_only_on_request() {
        let any = |switchable, groups, wanted: fn(&Action) -> bool| {
            let mut choices = Choices::new(1, 12, switchable, groups);
            (0..2000).any(|_| wanted(&choices.next().0))
        };
        let hotplug: fn(&Action) -> bool = |action| matches!(action, Action::Hotplug { .. });
        let group: fn(&Action) -> bool =
            |action| matches!(action, Action::Group { .. } | Action::Limit { .. });
        assert!(!any(0, 0, hotplug) && !any(0, 3, hotplug) && any(1, 0, hotplug));
        assert!(!any(0, 0, group) && !any(1, 0, group) && any(0, 3, group));
    }
}
