// SPDX-License-Identifier: GPL-2.0-only
//! What happens next: a pure function of the seed, so that a run can be asked for again.

use std::time::Duration;

use crate::random::SplitMix;

/// Between two actions.
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
    /// Stops a worker that is not stopped and lets one go on that is.
    Stop {
        worker: usize,
    },
    /// A process that starts `children` short ones and waits for them.
    Storm {
        children: u64,
        seed: u64,
    },
    /// Switches the nth CPU that may be switched off, or on again.
    Hotplug {
        cpu: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Normal,
    Batch,
    Idle,
}

pub struct Choices {
    numbers: SplitMix,
    workers: u64,
    switchable_cpus: u64,
}

impl Choices {
    pub fn new(seed: u64, workers: usize, switchable_cpus: usize) -> Self {
        Self {
            numbers: SplitMix(seed),
            workers: workers as u64,
            switchable_cpus: switchable_cpus as u64,
        }
    }

    /// What to do next, and how long to wait then.
    pub fn next(&mut self) -> (Action, Duration) {
        let kind = self.numbers.below(if self.switchable_cpus > 0 { 100 } else { 96 });
        let worker = self.number(self.workers);
        let action = match kind {
            0..24 => Action::Affinity { worker, bits: self.numbers.next() },
            24..44 => Action::Nice { worker, nice: self.nice() },
            44..64 => Action::Stop { worker },
            64..80 => Action::Policy { worker, policy: self.policy() },
            80..96 => {
                Action::Storm { children: 1 + self.numbers.below(24), seed: self.numbers.next() }
            }
            _ => Action::Hotplug { cpu: self.number(self.switchable_cpus) },
        };
        (action, Duration::from_micros(self.numbers.below(LONGEST_PAUSE_US)))
    }

    fn number(&mut self, limit: u64) -> usize {
        usize::try_from(self.numbers.below(limit)).unwrap_or(0)
    }

    /// -20..=19
    fn nice(&mut self) -> i8 {
        i8::try_from(self.numbers.below(40)).unwrap_or(0) - 20
    }

    fn policy(&mut self) -> Policy {
        match self.numbers.below(3) {
            0 => Policy::Normal,
            1 => Policy::Batch,
            _ => Policy::Idle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, count: usize) -> Vec<(Action, Duration)> {
        let mut choices = Choices::new(seed, 12, 1);
        (0..count).map(|_| choices.next()).collect()
    }

    #[test]
    fn a_seed_stands_for_one_sequence() {
        assert_eq!(first(7, 1000), first(7, 1000));
        assert_ne!(first(7, 1000), first(8, 1000));
    }

    #[test]
    fn everything_happens_within_its_limits() {
        let mut seen = [0; 6];
        for (action, pause) in first(1, 2000) {
            assert!(pause < Duration::from_millis(10));
            let kind = match action {
                Action::Affinity { worker, .. } if worker < 12 => 0,
                Action::Nice { worker, nice } if worker < 12 && (-20..=19).contains(&nice) => 1,
                Action::Policy { worker, .. } if worker < 12 => 2,
                Action::Stop { worker } if worker < 12 => 3,
                Action::Storm { children: 1..=24, .. } => 4,
                Action::Hotplug { cpu: 0 } => 5,
                other => panic!("out of its limits: {other:?}"),
            };
            seen[kind] += 1;
        }
        assert!(seen.iter().all(|&times| times > 20), "{seen:?}");
    }

    #[test]
    fn no_cpu_is_switched_off_unless_asked_for() {
        let mut choices = Choices::new(1, 12, 0);
        assert!((0..2000).all(|_| !matches!(choices.next().0, Action::Hotplug { .. })));
    }
}
