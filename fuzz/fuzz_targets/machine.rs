// SPDX-License-Identifier: GPL-2.0-only
//! Any text as one of the kernel's files, and any bytes as counters of probes: nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use machine::owner::Agent;
use machine::{cgroup, cpus, key_value, measure, mounts};
use probes::Histogram;
use procfs::FromRead;
use procfs::process::MountInfos;

/// Largest count of a machine: as nanoseconds of one CPU it would be three days.
const MOST: u64 = 1 << 48;

fuzz_target!(|bytes: &[u8]| {
    histogram(bytes);
    let Ok(text) = str::from_utf8(bytes) else { return };
    let key = text.split_whitespace().next().unwrap_or_default();
    let _ = key_value::number::<u64>(text, key);
    if let Some(time) = cgroup::parse_cpu_stat(text) {
        let _ = time.total_s();
    }
    let _ = measure::runqueue_wait_s(text);
    assert!(cpus::listed(text).len() <= 8192);
    if let Ok(seen) = MountInfos::from_read(bytes) {
        for mount in seen.0 {
            let _ = mounts::unescaped(&mount.mount_point);
        }
    }
    if let Some(agent) = Agent::of(text, &["scratch"]) {
        assert!(text.starts_with(&agent.to_string()));
    }
});

/// Two CPUs, each with half of the words.
fn histogram(bytes: &[u8]) {
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")) % MOST)
        .collect();
    let mut histogram = Histogram::default();
    for cpu in words.chunks_exact((words.len() / 2).max(1)) {
        histogram.add(cpu);
    }
    for (name, us) in histogram.summary_us() {
        assert!(us.is_finite() && us >= 0.0, "{name} is {us}");
    }
    assert!(histogram.percentile_ns(50) <= histogram.max_ns());
}
