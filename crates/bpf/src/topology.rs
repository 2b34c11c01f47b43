// SPDX-License-Identifier: GPL-2.0-only
//! Facts about this machine that schedulers ask for with the tag `machine | FACT`; see
//! schedulers/include/machine.h.

use std::fs;
use std::path::Path;
use std::time::Duration;

use machine::cpus;
use nix::time::{ClockId, clock_getres};

use crate::symbols;

const CPUS: &str = "/sys/devices/system/cpu";

/// Most CPUs that schedulers have room for.
const MOST_CPUS: usize = 1024;

/// The values of `fact`, `count` of them if it is one per CPU. None if there is no such fact.
pub fn fact(fact: &str, count: usize) -> Option<Vec<u64>> {
    match fact {
        "cpu_ids" => Some(vec![wide(cpu_ids().min(MOST_CPUS))]),
        "tick_ns" => Some(vec![u64::try_from(tick().as_nanos()).expect("no tick is that long")]),
        "core_of_cpu" => Some(per_cpu(count, cpu_ids(), core)),
        "cache_of_cpu" => Some(per_cpu(count, cpu_ids(), cache)),
        "node_of_cpu" => Some(per_cpu(count, cpu_ids(), node)),
        _ => fact.strip_prefix("address ").map(|symbol| vec![symbols::address(symbol)]),
    }
}

/// The period of the kernel's tick, which is the resolution of the coarse clocks.
pub fn tick() -> Duration {
    const HZ_1000: Duration = Duration::from_millis(1);
    clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).map_or(HZ_1000, Duration::from)
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).expect("no machine counts further")
}

/// One more than the highest number that a CPU can ever have here.
fn cpu_ids() -> usize {
    let possible = fs::read_to_string(Path::new(CPUS).join("possible")).unwrap_or_default();
    cpus::listed(&possible).last().map_or(1, |highest| highest + 1)
}

/// The group of each CPU. CPUs from number `ids` on cannot exist; like a CPU without a group, each
/// is a group of its own.
fn per_cpu(count: usize, ids: usize, group: impl Fn(&Path) -> Option<u64>) -> Vec<u64> {
    let folder = |cpu| Path::new(CPUS).join(format!("cpu{cpu}"));
    let told = |cpu| if cpu < ids { group(&folder(cpu)) } else { None };
    (0..count).map(|cpu| told(cpu).unwrap_or(wide(cpu))).collect()
}

fn core(cpu: &Path) -> Option<u64> {
    first(&fs::read_to_string(cpu.join("topology/thread_siblings_list")).ok()?)
}

/// A CPU's group by the cache of the highest level; CPUs whose caches the kernel does not know share a package.
fn cache(cpu: &Path) -> Option<u64> {
    let shared = (0..8)
        .rev()
        .find_map(|index| {
            fs::read_to_string(cpu.join(format!("cache/index{index}/shared_cpu_list"))).ok()
        })
        .or_else(|| fs::read_to_string(cpu.join("topology/package_cpus_list")).ok())?;
    first(&shared)
}

/// A CPU's group by the lowest CPU of its node.
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
    fn only_cpus_that_can_exist_are_asked() {
        let asked = std::cell::RefCell::new(Vec::new());
        let groups = per_cpu(1024, 3, |path| {
            asked.borrow_mut().push(path.file_name().unwrap().to_owned());
            Some(0)
        });
        assert_eq!(*asked.borrow(), ["cpu0", "cpu1", "cpu2"]);
        assert_eq!(groups[..5], [0, 0, 0, 3, 4]);
        assert_eq!(groups.len(), 1024);
    }

    #[test]
    fn this_machine_has_facts() {
        let tick = fact("tick_ns", 1).unwrap()[0];
        assert!((1_000_000..=10_000_000).contains(&tick), "{tick} ns");
        assert!(fact("cpu_ids", 1).unwrap()[0] >= 1);
        let cores = fact("core_of_cpu", 1024).unwrap();
        assert_eq!(cores.len(), 1024);
        assert!(cores.iter().zip(0..).all(|(&core, cpu)| core <= cpu));
        assert!(cores.iter().zip(0..).skip(cpu_ids()).all(|(&core, cpu)| core == cpu));
        assert_eq!(fact("colour", 1), None);
    }
}
