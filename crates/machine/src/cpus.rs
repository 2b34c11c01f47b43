// SPDX-License-Identifier: GPL-2.0-only
//! The CPUs of this machine.

use std::fs;

use nix::unistd::{SysconfVar, sysconf};

use crate::root::Root;

const ONLINE: &str = "/sys/devices/system/cpu/online";

/// CPUs the machine can have; their numbers are below it.
pub fn count() -> usize {
    let count = sysconf(SysconfVar::_NPROCESSORS_CONF).ok().flatten().unwrap_or(1);
    usize::try_from(count).unwrap_or(1)
}

/// The CPUs that are online.
pub fn online() -> Vec<usize> {
    online_at(&Root::machine())
}

/// The CPUs that are online on the machine whose files are below `root`.
pub fn online_at(root: &Root) -> Vec<usize> {
    listed(&fs::read_to_string(root.at(ONLINE)).unwrap_or_default())
}

/// The CPUs of a list like "2-3,6".
pub fn listed(list: &str) -> Vec<usize> {
    /// Most CPUs of any kernel (NR_CPUS).
    const MOST: usize = 8192;
    let ranges = list.trim().split(',').filter_map(|part| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        Some(low.parse().ok()?..=high.parse().ok()?)
    });
    ranges.flatten().take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_name_each() {
        assert_eq!(listed("0,2-4,9\n"), [0, 2, 3, 4, 9]);
        assert_eq!(listed("0\n"), [0]);
        assert_eq!(listed("\n"), [0; 0]);
        assert_eq!(listed(&format!("0-{}", usize::MAX)).len(), 8192);
    }

    #[test]
    fn this_machine_has_cpus() {
        assert!(!online().is_empty() && online().len() <= count());
    }
}
