// SPDX-License-Identifier: GPL-2.0-only
//! The length of the slices of time-sliced CFQ, over the whole range of its parameters.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "milliseconds of a slice are few"
)]

mod common;

use common::{elevator, ms};
use elevators::Request;
use proptest::prelude::*;

/// The third slice, in nanoseconds, of one of `readers` processes that always have requests, served
/// in `service_ns` each.
fn slice_ns(pairs: &[&str], readers: u64, service_ns: u64) -> u64 {
    let mut cfq = elevator("cfq", pairs);
    let (mut now, mut id) = (0, 0);
    for context in 0..readers {
        for _ in 0..2 {
            id += 1;
            cfq.add(Request::read(id, context, context * 1_000_000 + id * 8, 8), now);
        }
    }
    let (mut turns, mut owner, mut since) = (0, None, 0);
    loop {
        let request = cfq.next(now).expect("all have requests");
        if owner.replace(request.context) != Some(request.context) {
            turns += 1;
            if turns == 2 * readers + 2 {
                return now - since;
            }
            since = now;
        }
        now += service_ns;
        cfq.completed(&request, now);
        id += 1;
        cfq.add(Request { id, first: request.first + 160, ..request }, now);
    }
}

#[test]
fn two_readers_share_the_target_however_long_it_is() {
    for slice_ms in [300, 4000, 5000, 6000, 10_000] {
        let sync = format!("slice_sync_ms={slice_ms}");
        let target = format!("target_latency_ms={slice_ms}");
        let found = slice_ns(&["variant=sliced", &sync, &target], 2, ms(10));
        // From the first completion on, and the request that is then under way.
        let half = ms(slice_ms / 2);
        assert!((half..=half + ms(20)).contains(&found), "{slice_ms} ms: {found} ns");
    }
}

#[test]
fn no_slice_is_shorter_than_two_waits() {
    // 100 readers in 300 ms would have 3 ms each.
    let found = slice_ns(&["variant=sliced", "slice_idle_ms=8"], 100, ms(1));
    assert!((ms(16)..=ms(18)).contains(&found), "{found} ns");
    let found = slice_ns(&["variant=sliced", "slice_idle_ms=0"], 100, ms(1));
    assert!((ms(3)..=ms(5)).contains(&found), "{found} ns");
    // A slice that is itself shorter than two waits is not lengthened.
    let short = ["variant=sliced", "slice_sync_ms=10", "target_latency_ms=1"];
    let found = slice_ns(&short, 10, ms(1));
    assert!((ms(10)..=ms(12)).contains(&found), "{found} ns");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The rule of cfq_scaled_cfqq_slice at level 4, in fractions instead of whole numbers.
    #[test]
    fn a_slice_is_what_the_rule_says(
        sync_ms in prop_oneof![Just(1u64), Just(10_000), 1..10_000u64],
        target_ms in prop_oneof![Just(1u64), Just(60_000), 1..60_000u64],
        idle_ms in prop_oneof![Just(0u64), Just(1000), 0..1000u64],
        readers in 2..6u64,
    ) {
        let pairs = [
            "variant=sliced".to_owned(),
            format!("slice_sync_ms={sync_ms}"),
            format!("target_latency_ms={target_ms}"),
            format!("slice_idle_ms={idle_ms}"),
        ];
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        let (sync, target, idle) = (sync_ms as f64, target_ms as f64, idle_ms as f64);
        let share = sync.min(target / readers as f64).max(sync.min(2.0 * idle));
        // A request takes a hundredth of the slice, so that there are few of them in a slice of any
        // length.
        let service_ns = (share * 10_000.0) as u64 + 1;
        let found = slice_ns(&pairs, readers, service_ns);
        let meant = (share * 1e6) as u64;
        prop_assert!((meant.saturating_sub(1)..=meant + 2 * service_ns + 2).contains(&found), "{} of {}", found, meant);
    }
}
