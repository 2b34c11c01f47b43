// SPDX-License-Identifier: GPL-2.0-only
//! The performance of the disk of 2003, and its drive's buffers.
#![expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]

use disk_model::{Disk, Mechanics, catalogue};
use elevators::Request;
use elevators::parameters::Allowed;
use proptest::prelude::*;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;

const KIB_128: u64 = 256;
const NS_PER_S: f64 = 1e9;

fn settings(name: &str, pairs: &[&str]) -> elevators::Settings {
    catalogue::settings(name, pairs.iter().copied()).unwrap().unwrap()
}

fn disk(name: &str, pairs: &[&str]) -> Disk {
    Disk::new(&settings(name, pairs))
}

/// Numbers below `limit` that are the same in every run.
fn scattered(limit: u64) -> impl Iterator<Item = u64> {
    let mut numbers = SplitMix64::seed_from_u64(0);
    std::iter::repeat_with(move || numbers.next_u64() % limit)
}

/// Serves one read after the other without a pause; returns how long that takes in seconds.
fn reads_s(disk: &mut Disk, reads: impl IntoIterator<Item = (u64, u64)>) -> f64 {
    let mut now = 0;
    for (first, sectors) in reads {
        now += disk.service(&Request::read(0, 0, first, sectors), now).total_ns();
    }
    now as f64 / NS_PER_S
}

fn mb_per_s(sectors: u64, seconds: f64) -> f64 {
    sectors as f64 * 512.0 / 1e6 / seconds
}

fn sequential_mb_per_s(disk: &mut Disk, first: u64) -> f64 {
    let seconds = reads_s(disk, (0..1000).map(|index| (first + index * KIB_128, KIB_128)));
    mb_per_s(1000 * KIB_128, seconds)
}

#[test]
fn random_reads_of_4_kib_are_75_to_85_in_a_second() {
    for pairs in [&[][..], &["rotation=drawn"]] {
        let firsts = scattered(78_000_000 / 8 - 1).map(|block| block * 8);
        let rate = 20_000.0
            / reads_s(&mut disk("ide2003", pairs), firsts.take(20_000).map(|first| (first, 8)));
        assert!((75.0..=85.0).contains(&rate), "{pairs:?}: {rate}");
    }
}

#[test]
fn sequential_reads_reach_35_to_40_mb_per_s_outside_and_fall_inwards() {
    let outer = sequential_mb_per_s(&mut disk("ide2003", &[]), 0);
    let inner = sequential_mb_per_s(&mut disk("ide2003", &[]), 78_000_000 - 1001 * KIB_128);
    assert!((35.0..=40.0).contains(&outer), "{outer}");
    // The media rate of 24 MB/s minus the overhead of every command.
    assert!((22.0..=24.0).contains(&inner), "{inner}");
}

#[test]
fn two_interleaved_streams_reach_10_to_13_mb_per_s_together() {
    let second = 2_000_000_000 / 512;
    let reads = (0..2000).map(|index| ((index % 2) * second + index / 2 * KIB_128, KIB_128));
    for pairs in [&[][..], &["rotation=drawn"]] {
        let rate = mb_per_s(2000 * KIB_128, reads_s(&mut disk("ide2003", pairs), reads.clone()));
        assert!((10.0..=13.0).contains(&rate), "{pairs:?}: {rate}");
    }
}

fn mean_seek_ms(name: &str) -> f64 {
    let mechanics = Mechanics::new(&settings(name, &[]));
    let (from, to) = (scattered(60_000), scattered(60_000).skip(100_000));
    let total: u64 = from
        .zip(to)
        .take(100_000)
        .map(|(from, to): (u64, u64)| mechanics.seek_ns(from.abs_diff(to)))
        .sum();
    total as f64 / 100_000.0 / 1e6
}

#[test]
fn seeks_take_what_the_data_sheets_say() {
    let ide = Mechanics::new(&settings("ide2003", &[]));
    let ms = |ns| ns as f64 / 1e6;
    let (adjacent, full, mean) =
        (ms(ide.seek_ns(1)), ms(ide.seek_ns(60_000)), mean_seek_ms("ide2003"));
    let scsi = mean_seek_ms("scsi10k");
    assert!((adjacent - 0.86).abs() < 0.005, "{adjacent}");
    assert!((full - 17.0).abs() < 0.05, "{full}");
    assert!((mean - 8.5).abs() < 0.1, "{mean}");
    assert!((scsi - 4.7).abs() < 0.1, "{scsi}");
    assert_eq!(ide.seek_ns(0), 0);
}

#[test]
fn without_moving_parts_nothing_takes_time() {
    let mut none = disk("none", &[]);
    assert_eq!(none.service(&Request::read(1, 1, 70_000_000, 256), 0).total_ns(), 0);
    assert_eq!((none.cylinder(), none.mechanics().is_none()), (0, true));
}

#[test]
fn the_head_is_where_the_last_request_ended() {
    let mut ide = disk("ide2003", &[]);
    ide.service(&Request::write(1, 1, 39_000_000, 8), 0);
    assert_eq!(ide.cylinder(), 30_000);
}

#[test]
fn the_head_settles_longer_before_a_write() {
    // With drawn delays, which are the same for both, the rotation does not depend on when the head has settled.
    for (rotation, settle_us) in [("angle", 0), ("angle", 1500), ("drawn", 1500), ("drawn", 10_000)]
    {
        let (rotation, settle) =
            (format!("rotation={rotation}"), format!("write_settle_us={settle_us}"));
        let disk = disk("ide2003", &[&rotation, &settle]);
        let read = disk.clone().service(&Request::read(1, 1, 40_000_000, 8), 0);
        let write = disk.clone().service(&Request::write(1, 1, 40_000_000, 8), 0);
        assert!(read.seek_ns > 0);
        assert_eq!(write.seek_ns, read.seek_ns + settle_us * 1000, "{rotation}");
        // A write that continues another needs no settling.
        let mut disk = disk;
        let now = disk.service(&Request::write(1, 1, 40_000_000, 8), 0).total_ns();
        assert_eq!(disk.service(&Request::write(2, 1, 40_000_008, 8), now).seek_ns, 0);
        if rotation == "rotation=drawn" {
            assert_eq!(write.rotation_ns, read.rotation_ns);
        } else {
            // The platter turns while the head settles, so the wait for the sector is shorter by
            // that time, or a turn longer.
            let period = 60_000_000_000 / 7200;
            let end =
                |service: &disk_model::Service| (service.seek_ns + service.rotation_ns) % period;
            assert_eq!(end(&write), end(&read));
        }
    }
}

#[test]
fn sectors_that_were_read_ahead_come_at_the_rate_of_the_interface() {
    let mut ide = disk("ide2003", &[]);
    let now = ide.service(&Request::read(1, 1, 0, KIB_128), 0).total_ns();
    // 256 sectors pass the head in 3.3 ms.
    let later = now + 4_000_000;
    let next = ide.service(&Request::read(2, 1, KIB_128, KIB_128), later);
    assert_eq!((next.seek_ns, next.rotation_ns), (0, 0));
    assert_eq!(next.transfer_ns, 131_072 * 1000 / 80, "80 MB/s");
}

#[test]
fn sectors_that_are_still_being_read_come_at_the_media_rate() {
    let mut ide = disk("ide2003", &[]);
    let now = ide.service(&Request::read(1, 1, 0, KIB_128), 0).total_ns();
    let next = ide.service(&Request::read(2, 1, KIB_128, KIB_128), now);
    assert_eq!((next.seek_ns, next.rotation_ns), (0, 0));
    assert!((3_250_000..3_320_000).contains(&next.transfer_ns), "{}", next.transfer_ns);
}

#[test]
fn the_buffer_holds_256_kib_and_only_until_the_head_leaves() {
    let mut ide = disk("ide2003", &[]);
    let now = ide.service(&Request::read(1, 1, 0, 8), 0).total_ns();
    assert!(ide.clone().service(&Request::read(2, 1, 8, 600), now + 50_000_000).rotation_ns > 0);
    let away = now + ide.service(&Request::read(3, 1, 70_000_000, 8), now).total_ns();
    let back = ide.service(&Request::read(4, 1, 8, 8), away);
    assert!(back.seek_ns > 10_000_000, "{}", back.seek_ns);
}

#[test]
fn a_write_that_continues_another_needs_no_rotation_if_it_comes_soon() {
    for (pause_ns, waits) in [(1_900_000, false), (2_100_000, true)] {
        let mut ide = disk("ide2003", &[]);
        let now = ide.service(&Request::write(1, 1, 0, KIB_128), 0).total_ns();
        // The overhead counts too.
        let next = ide.service(&Request::write(2, 1, KIB_128, KIB_128), now + pause_ns - 300_000);
        assert_eq!(next.rotation_ns > 0, waits, "{pause_ns} ns");
    }
}

#[test]
fn a_cached_write_takes_the_interface_and_the_flush_takes_the_platter() {
    let mut ide = disk("ide2003", &["write_cache=on"]);
    let write = ide.service(&Request::write(1, 1, 40_000_000, KIB_128), 0);
    assert_eq!(write.total_ns(), 300_000 + 131_072 * 1000 / 80);
    let flush = ide.service(&Request::flush(2, 1), write.total_ns());
    assert!(flush.total_ns() > 5_000_000, "{}", flush.total_ns());
    let again = ide.service(&Request::flush(3, 1), write.total_ns() + flush.total_ns());
    assert_eq!(again.total_ns(), 300_000, "nothing is left");
    let uncached = disk("ide2003", &[]).service(&Request::flush(1, 1), 0);
    assert_eq!(uncached.total_ns(), 300_000, "without a cache nothing has to be flushed");
}

#[test]
fn a_full_write_cache_makes_writes_wait_for_the_platter() {
    let mut ide = disk("ide2003", &["write_cache=on"]);
    let mut now = 0;
    let mut waits = Vec::new();
    for (id, block) in scattered(78_000_000 / KIB_128 - 1).take(40).enumerate() {
        let service = ide.service(&Request::write(id as u64, 1, block * KIB_128, KIB_128), now);
        now += service.total_ns();
        waits.push(service.wait_ns);
    }
    assert!(waits[..16].iter().all(|wait| *wait == 0), "2 MiB are 16 requests: {waits:?}");
    assert!(waits[20..].iter().sum::<u64>() > 20 * 5_000_000, "{waits:?}");
}

#[test]
fn a_read_waits_for_at_most_one_cached_write() {
    let mut ide = disk("ide2003", &["write_cache=on"]);
    let mut now = 0;
    for (id, block) in scattered(78_000_000 / KIB_128 - 1).take(12).enumerate() {
        now += ide.service(&Request::write(id as u64, 1, block * KIB_128, KIB_128), now).total_ns();
    }
    let read = ide.service(&Request::read(99, 2, 1000, 8), now + 1000);
    let longest = 17_000_000 + 8_333_333 + 5_500_000;
    assert!((1..longest).contains(&read.wait_ns), "{}", read.wait_ns);
}

#[test]
fn a_write_back_ends_the_read_ahead() {
    for flush in [false, true] {
        let mut ide = disk("ide2003", &["write_cache=on"]);
        let mut now = 0;
        for (id, block) in scattered(78_000_000 / KIB_128 - 1).take(12).enumerate() {
            let write = Request::write(id as u64, 1, block * KIB_128, KIB_128);
            now += ide.service(&write, now).total_ns();
        }
        now += ide.service(&Request::read(98, 2, 1000, 8), now).total_ns();
        // Long enough to read ahead, if there were nothing to write.
        now += if flush { ide.service(&Request::flush(99, 2), now).total_ns() } else { 20_000_000 };
        let next = ide.service(&Request::read(100, 2, 1008, 8), now);
        assert!(next.seek_ns > 1_000_000, "{next:?}");
    }
}

#[test]
fn cached_writes_are_read_from_the_cache() {
    let mut ide = disk("ide2003", &["write_cache=on"]);
    let now = ide.service(&Request::write(1, 1, 0, 8), 0).total_ns();
    let now = now + ide.service(&Request::write(2, 1, 40_000_000, 8), now).total_ns();
    let read = ide.service(&Request::read(3, 1, 40_000_000, 8), now);
    assert_eq!((read.wait_ns, read.seek_ns, read.rotation_ns), (0, 0, 0));
}

/// Every number at its smallest and its largest allowed value.
#[test]
fn the_extremes_of_every_parameter_can_be_built_and_used() {
    for parameter in disk_model::DISK.all_parameters() {
        let Allowed::Range { min, max, .. } = parameter.allowed else { continue };
        for value in [min, max] {
            let (slow, extreme) = ("rate_inner_kb_s=1000", format!("{}={value}", parameter.name));
            let pairs = if extreme.starts_with("rate_inner") {
                vec![&extreme[..]]
            } else {
                vec![slow, &extreme]
            };
            let mut disk = disk("ide2003", &pairs);
            let last = disk.mechanics().unwrap().geometry.sectors - 64;
            let there = disk.service(&Request::read(1, 1, last, 64), 0).total_ns();
            let back = disk.service(&Request::write(2, 1, 0, 64), there).total_ns();
            assert!(there > 0 && back < 3_000_000_000_000, "{extreme}: {there} {back}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_request_takes_longer_than_the_parts_can(
        requests in prop::collection::vec((0..77_999_000u64, 1..256u64, any::<bool>(), 0..20_000_000u64), 1..200),
        seed: u64,
    ) {
        for pairs in [vec![], vec!["rotation=drawn".to_string(), format!("seed={seed}")]] {
            let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
            let (mut one, mut other) = (disk("ide2003", &pairs), disk("ide2003", &pairs));
            let mut now = 0;
            for (first, sectors, reads, pause) in &requests {
                let make = if *reads { Request::read } else { Request::write };
                let request = make(1, 1, *first, *sectors);
                now += pause;
                let service = one.service(&request, now);
                prop_assert_eq!(service, other.service(&request, now));
                prop_assert!(service.total_ns() >= 300_000 + sectors * 512 * 1000 / 80);
                prop_assert!(service.total_ns() <= 300_000 + 17_100_000 + 8_333_333 + sectors * 22_000);
                now += service.total_ns();
            }
        }
    }
}
