// SPDX-License-Identifier: GPL-2.0-only
//! The disk with any values of all its parameters: nothing overflows, and the same calls give the same times.

#[path = "../../elevators/tests/common/drawn.rs"]
mod drawn;

use disk_model::{DISK, Disk};
use drawn::Drawn;
use elevators::Request;
use proptest::prelude::*;

/// Longest time of a request on any disk: a seek over every cylinder, and a full cache of 128 MiB
/// written in pieces of a sector, each with such a seek.
const LONGEST_NS: u64 = 200_000 * 20_000_000_000;

fn drawn() -> impl Strategy<Value = Drawn> {
    prop_oneof![
        Just(Drawn::Least),
        Just(Drawn::Most),
        Just(Drawn::Usual),
        any::<u64>().prop_map(Drawn::Within)
    ]
}

#[derive(Debug, Clone)]
struct Piece {
    /// Sectors from the start of the disk, or from its end.
    offset: u64,
    from_end: bool,
    sectors: u64,
    kind: u8,
    pause_ns: u64,
}

fn piece() -> impl Strategy<Value = Piece> {
    let offset = prop_oneof![0..600u64, any::<u64>()];
    let sectors = prop_oneof![1..16u64, 1..=2048u64];
    let pause_ns = prop_oneof![Just(0u64), 0..20_000_000u64, 0..4_000_000_000_000_000u64];
    (offset, any::<bool>(), sectors, 0..8u8, pause_ns).prop_map(
        |(offset, from_end, sectors, kind, pause_ns)| Piece {
            offset,
            from_end,
            sectors,
            kind,
            pause_ns,
        },
    )
}

impl Piece {
    fn request(&self, disk_sectors: u64) -> Request {
        let offset = self.offset % (disk_sectors - self.sectors + 1);
        let first = if self.from_end { disk_sectors - self.sectors - offset } else { offset };
        match self.kind {
            0 => Request::flush(0, 0),
            1..4 => Request::write(0, 0, first, self.sectors),
            _ => Request::read(0, 0, first, self.sectors),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_disk_serves_any_requests(
        draws in prop::collection::vec(drawn(), 21),
        moves: bool,
        pieces in prop::collection::vec(piece(), 1..100),
    ) {
        let mut draws = draws.into_iter().cycle();
        let fixed = if moves { &["moving_parts=yes"][..] } else { &[] };
        let settings = drawn::settings(&DISK, fixed, || draws.next().unwrap());
        let (mut one, mut other) = (Disk::new(&settings), Disk::new(&settings));
        let mut now = 0;
        for piece in pieces {
            now += piece.pause_ns;
            let request = piece.request(settings.get("sectors"));
            let service = one.service(&request, now);
            prop_assert_eq!(service, other.service(&request, now));
            prop_assert!(service.total_ns() <= LONGEST_NS, "{:?}", service);
            prop_assert!(one.cylinder() < settings.get("cylinders"));
            now += service.total_ns();
        }
    }
}
