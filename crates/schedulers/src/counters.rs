// SPDX-License-Identifier: GPL-2.0-only
//! The counters of a scheduler: one u64 per CPU for each member of the value of its map "stats",
//! and one per task for each such member of the value of its map "tasks".

use std::os::fd::{AsRawFd, OwnedFd};

use libbpf_rs::btf::Btf;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::Serialize;
use serde_json::{Map, Value, json};

use bpf::globals::{self, Member};
use machine::cpus;

/// The name of the per-CPU array map with one element.
pub const MAP: &str = "stats";

/// The name of the task storage.
pub const TASK_MAP: &str = "tasks";

#[derive(Debug, Clone, Serialize)]
pub struct Statistic {
    pub name: String,
    pub sentence: String,
    /// Bytes from the start of the map's value.
    #[serde(skip)]
    pub offset: usize,
}

/// The counters that an object describes, in its order.
pub fn describe(btf: &Btf<'_>, map: &str) -> Vec<Statistic> {
    globals::map_value(btf, map).unwrap_or_default().into_iter().filter_map(statistic).collect()
}

fn statistic(member: Member) -> Option<Statistic> {
    let sentence = member.tags.iter().find_map(|tag| tag.strip_prefix("statistic | "))?.to_owned();
    Some(Statistic { name: member.name, sentence, offset: member.offset })
}

/// The counters of a scheduler in the kernel; empty for the kernel's own and for programs.
#[derive(Debug, Default)]
pub struct Counters {
    pub statistics: Vec<Statistic>,
    pub map: Option<MapHandle>,
    /// The thread that has the counters; None for those of the CPUs.
    pub task: Option<OwnedFd>,
}

impl Counters {
    /// Reads the map's value for each CPU that can ever exist.
    ///
    /// # Errors
    /// The kernel does not return it.
    pub fn read(&self) -> libbpf_rs::Result<Reading<'_>> {
        let map = self.map.as_ref();
        if let Some(task) = &self.task {
            let key = task.as_raw_fd().to_ne_bytes();
            let value = map.map(|map| map.lookup(&key, MapFlags::ANY)).transpose()?.flatten();
            return Ok(Reading { statistics: &self.statistics, cpus: value.into_iter().collect() });
        }
        let values = map.map(|map| map.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY));
        let cpus = values.transpose()?.flatten().unwrap_or_default();
        Ok(Reading { statistics: &self.statistics, cpus })
    }
}

pub struct Reading<'a> {
    statistics: &'a [Statistic],
    cpus: Vec<Vec<u8>>,
}

impl Reading<'_> {
    /// The sums over all CPUs by name.
    pub fn totals(&self) -> Value {
        self.table(|offset| self.cpus.iter().map(|value| number_at(value, offset)).sum())
    }

    /// A table for each CPU that is online or has counted something.
    pub fn per_cpu(&self) -> Value {
        let online = cpus::online();
        let shown = self
            .cpus
            .iter()
            .enumerate()
            .filter(|(cpu, value)| online.contains(cpu) || value.iter().any(|&byte| byte != 0));
        shown
            .map(|(cpu, value)| {
                json!({"cpu": cpu, "counters": self.table(|offset| number_at(value, offset))})
            })
            .collect()
    }

    fn table(&self, number: impl Fn(usize) -> u64) -> Value {
        let named =
            self.statistics.iter().map(|each| (each.name.clone(), number(each.offset).into()));
        Value::Object(named.collect::<Map<_, _>>())
    }
}

/// A handle of the thread `tid`.
///
/// # Errors
/// There is no such thread.
pub fn open_task(tid: u32) -> std::io::Result<OwnedFd> {
    // rustix has no name for this flag yet.
    let thread = PidfdFlags::from_bits_retain(libc::PIDFD_THREAD);
    let number = i32::try_from(tid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    Ok(pidfd_open(number, thread)?)
}

fn number_at(value: &[u8], offset: usize) -> u64 {
    value
        .get(offset..offset + 8)
        .map_or(0, |bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_sums_over_all_cpus() {
        let statistics: Vec<Statistic> = [("switches", 0), ("busy_ns", 8)]
            .map(|(name, offset)| Statistic { name: name.into(), sentence: "x.".into(), offset })
            .into();
        let value = |a: u64, b: u64| [a.to_ne_bytes(), b.to_ne_bytes()].concat();
        // No machine has so many CPUs that the last two are online.
        let mut cpus = vec![value(0, 0); 5000];
        cpus[0] = value(1, 20);
        cpus[4999] = value(2, 30);
        let reading = Reading { statistics: &statistics, cpus };
        assert_eq!(reading.totals(), json!({"switches": 3, "busy_ns": 50}));
        let per_cpu = reading.per_cpu();
        let per_cpu = per_cpu.as_array().unwrap();
        assert_eq!(per_cpu[0], json!({"cpu": 0, "counters": {"switches": 1, "busy_ns": 20}}));
        let last = json!({"cpu": 4999, "counters": {"switches": 2, "busy_ns": 30}});
        assert_eq!(per_cpu.last().unwrap(), &last);
        assert!(per_cpu.iter().all(|each| each["cpu"] != 4998));
    }
}
