// SPDX-License-Identifier: GPL-2.0-only
//! The CPUs that this process may use, and so the workload.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

const MYSELF: Pid = Pid::from_raw(0);

/// By number of the CPU, 1 if it may be used.
pub fn usable() -> Vec<u64> {
    let set = sched_getaffinity(MYSELF).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::count()).map(|cpu| u64::from(set.is_set(cpu).unwrap_or(false))).collect()
}

/// Runs on each of these CPUs once, so that a probe sees for each whether it is idle afterwards.
pub fn visit() {
    let Ok(all) = sched_getaffinity(MYSELF) else { return };
    for cpu in (0..CpuSet::count()).filter(|&cpu| all.is_set(cpu).unwrap_or(false)) {
        let mut one = CpuSet::new();
        // A CPU that is offline cannot be visited and is never idle for the probe.
        let _offline = one.set(cpu).and_then(|()| sched_setaffinity(MYSELF, &one));
    }
    let _the_same_as_before = sched_setaffinity(MYSELF, &all);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_leaves_the_affinity_as_it_was() {
        let before = usable();
        assert!(before.contains(&1));
        visit();
        assert_eq!(usable(), before);
    }
}
