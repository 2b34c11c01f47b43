// SPDX-License-Identifier: GPL-2.0-only
//! Facts about this machine that schedulers ask for by the tag `machine | FACT`; see
//! schedulers/include/machine.h.

use std::fs;
use std::path::Path;

use libbpf_rs::num_possible_cpus;
use nix::time::{ClockId, clock_getres};

use super::symbols;

const CPUS: &str = "/sys/devices/system/cpu";

/// The values of `fact`, `count` of them if it is one per CPU. None if there is no such fact.
pub fn fact(fact: &str, count: usize) -> Option<Vec<u64>> {
    match fact {
        "cpu_ids" => Some(vec![num_possible_cpus().map_or(1, |cpus| cpus.min(1024)) as u64]),
        "tick_ns" => Some(vec![tick_ns()]),
        "core_of_cpu" => Some(per_cpu(count, core)),
        "cache_of_cpu" => Some(per_cpu(count, cache)),
        "node_of_cpu" => Some(per_cpu(count, node)),
        _ => fact.strip_prefix("address ").map(|symbol| vec![symbols::address(symbol)]),
    }
}

/// The coarse clocks advance once a tick and say so.
fn tick_ns() -> u64 {
    const HZ_1000: u64 = 1_000_000;
    clock_getres(ClockId::CLOCK_MONOTONIC_COARSE)
        .map_or(HZ_1000, |tick| tick.tv_sec() as u64 * 1_000_000_000 + tick.tv_nsec() as u64)
}

fn per_cpu(count: usize, group: impl Fn(&Path) -> Option<u64>) -> Vec<u64> {
    (0..count as u64)
        .map(|cpu| group(&Path::new(CPUS).join(format!("cpu{cpu}"))).unwrap_or(cpu))
        .collect()
}

fn core(cpu: &Path) -> Option<u64> {
    first(&fs::read_to_string(cpu.join("topology/thread_siblings_list")).ok()?)
}

/// By the cache of the highest level; CPUs whose caches the kernel does not know share a package.
fn cache(cpu: &Path) -> Option<u64> {
    let shared = (0..8)
        .rev()
        .find_map(|index| {
            fs::read_to_string(cpu.join(format!("cache/index{index}/shared_cpu_list"))).ok()
        })
        .or_else(|| fs::read_to_string(cpu.join("topology/package_cpus_list")).ok())?;
    first(&shared)
}

/// By the lowest CPU of the node.
fn node(cpu: &Path) -> Option<u64> {
    if !cpu.join("topology").exists() {
        return None;
    }
    let entries = fs::read_dir(cpu).ok()?;
    let node = entries.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_prefix("node")?.parse::<u32>().ok().map(|_| entry.path())
    });
    match node {
        Some(node) => first(&fs::read_to_string(node.join("cpulist")).ok()?),
        // A kernel without CONFIG_NUMA has one node.
        None => Some(0),
    }
}

/// The CPUs that are online.
pub fn online() -> Vec<usize> {
    listed(&fs::read_to_string(Path::new(CPUS).join("online")).unwrap_or_default())
}

/// The CPUs of a list like "2-3,6".
fn listed(list: &str) -> Vec<usize> {
    let ranges = list.trim().split(',').filter_map(|part| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        Some(low.parse().ok()?..=high.parse().ok()?)
    });
    ranges.flatten().collect()
}

/// The lowest CPU of a list like "2-3,6".
fn first(list: &str) -> Option<u64> {
    list.trim().split(['-', ',']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_start_with_the_lowest() {
        assert_eq!(first("2-3,6\n"), Some(2));
        assert_eq!(first("11\n"), Some(11));
        assert_eq!(first("\n"), None);
    }

    #[test]
    fn lists_of_cpus_name_each() {
        assert_eq!(listed("0,2-4,9\n"), [0, 2, 3, 4, 9]);
        assert_eq!(listed("0\n"), [0]);
        assert_eq!(listed("\n"), [0; 0]);
    }

    #[test]
    fn this_machine_has_facts() {
        assert!(!online().is_empty());
        let tick = fact("tick_ns", 1).unwrap()[0];
        assert!((1_000_000..=10_000_000).contains(&tick), "{tick} ns");
        assert!(fact("cpu_ids", 1).unwrap()[0] >= 1);
        let cores = fact("core_of_cpu", 1024).unwrap();
        assert_eq!(cores.len(), 1024);
        assert!(cores.iter().zip(0..).all(|(&core, cpu)| core <= cpu));
        assert_eq!(fact("colour", 1), None);
    }
}
