// SPDX-License-Identifier: GPL-2.0-only
//! Both forms of CFQ against references that search plain lists.
#![expect(clippy::cast_possible_truncation, reason = "contexts and draws are small")]

mod common;

use common::elevator;
use common::reference::Rounds;
use common::reference::sliced::Sliced;
use elevators::{Elevator, Request};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rounds_are_their_reference(steps in prop::collection::vec((any::<bool>(), 0..5u64, 0..100u64), 1..300)) {
        let mut cfq = elevator("cfq", &["variant=2003"]);
        let mut reference = Rounds::default();
        for (id, (adds, context, sector)) in steps.into_iter().enumerate() {
            if adds {
                let request = Request::read(id as u64, context, sector, 8);
                cfq.add(request, 0);
                reference.add(request, 0);
            } else {
                prop_assert_eq!(cfq.next(0), reference.next(0));
            }
        }
        while cfq.queued() > 0 {
            prop_assert_eq!(cfq.next(0), reference.next(0));
        }
    }

    #[test]
    fn slices_are_their_reference(
        steps in prop::collection::vec((0..6u8, 0..4u64, any::<bool>(), 0..20_000_000u64), 1..60),
        sectors in Just((0..60u64).collect::<Vec<_>>()).prop_shuffle(),
        far in prop::sample::select(vec![8u64, 100]),
    ) {
        // Few and near requests: no process counts as seeky, and think times are not yet known well
        // enough.
        let mut cfq = elevator("cfq", &["variant=sliced", "low_latency=0"]);
        let mut reference = Sliced::default();
        let (mut now, mut in_flight) = (0, Vec::new());
        let mut reads_of = [0; 4];
        for (id, (what, context, sync, passed)) in steps.into_iter().enumerate() {
            now += passed;
            if what < 3 && reads_of[context as usize] < 3 {
                reads_of[context as usize] += u8::from(sync);
                let make = if sync { Request::read } else { Request::write };
                let request = make(id as u64, context, sectors[id] * far, 8);
                cfq.add(request, now);
                reference.add(request, now);
            } else if what == 3 && !in_flight.is_empty() {
                let request: Request = in_flight.remove(0);
                cfq.completed(&request, now);
                reference.completed(&request, now);
            }
            let chosen = cfq.next(now);
            prop_assert_eq!(chosen, reference.next(now), "step {}", id);
            in_flight.extend(chosen);
        }
    }
}
