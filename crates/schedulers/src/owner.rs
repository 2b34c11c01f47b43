// SPDX-License-Identifier: GPL-2.0-only
//! The owner of a scheduler in charge: a process that has its struct_ops link open.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::time::Duration;

use bpf::struct_ops;
use machine::root::Root;
use protocol::State;
use serde::Serialize;

use crate::sysfs::SchedExt;

/// A machine, or a tree that stands in for it, as far as it shows the scheduler in charge.
pub struct World {
    pub root: Root,
    /// The number of the link that keeps the scheduler of that name in charge; None if the kernel shows none.
    pub link: fn(&str) -> Option<u32>,
    /// How long a program is given to end at each signal before the next, harder one.
    pub patience: Duration,
}

/// The scheduler in charge, and what keeps it so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InCharge {
    pub ops: String,
    /// A process that has it open; None if there is none, as for a link that is pinned.
    pub pid: Option<u32>,
    /// The name of that process.
    pub program: String,
    /// The service of systemd's that the process is in.
    pub unit: Option<String>,
}

impl Display for InCharge {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        let Self { ops, pid, program, unit } = self;
        match (unit, pid) {
            (Some(unit), _) => write!(formatter, "{unit} has the scheduler {ops} in charge"),
            (None, Some(pid)) => {
                write!(formatter, "process {pid} ({program}) has the scheduler {ops} in charge")
            }
            (None, None) => {
                write!(formatter, "the scheduler {ops} is in charge, which no process has open")
            }
        }
    }
}

impl World {
    /// The machine that this runs on.
    pub fn here() -> Self {
        Self {
            root: Root::machine(),
            link: |name| struct_ops::link(name).ok().flatten(),
            patience: Duration::from_secs(5),
        }
    }

    /// The scheduler in charge; None if it is the kernel's own.
    pub fn in_charge(&self) -> Option<InCharge> {
        let state = SchedExt::below(&self.root).state().ok()?;
        if state.ops.is_empty() {
            return None;
        }
        let link = (self.link)(&state.ops);
        let pid = link.and_then(|link| self.processes().find(|pid| self.has_open(*pid, link)));
        let read = |name: &str| {
            let path = pid.map(|pid| self.root.at(format!("/proc/{pid}/{name}")));
            path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default()
        };
        let program = read("comm").trim().to_owned();
        Some(InCharge { ops: state.ops, pid, program, unit: find_unit(&read("cgroup")) })
    }

    fn processes(&self) -> impl Iterator<Item = u32> {
        let entries = fs::read_dir(self.root.at("/proc")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// The scheduler that has been enabled since attachment `enable_seq`; None if there is none yet.
    pub fn enabled_since(&self, enable_seq: u64) -> Option<State> {
        let state = SchedExt::below(&self.root).state().ok()?;
        (state.state == "enabled" && !state.ops.is_empty() && state.enable_seq > enable_seq)
            .then_some(state)
    }

    /// Whether one of `processes` keeps the scheduler of `state` in charge; the state is read again
    /// at the end.
    pub fn is_held_by(&self, processes: impl IntoIterator<Item = u32>, state: &State) -> bool {
        let Some(link) = (self.link)(&state.ops) else { return false };
        let mut processes = processes.into_iter();
        processes.any(|pid| self.has_open(pid, link))
            && SchedExt::below(&self.root).state().is_ok_and(|now| {
                (now.state, now.ops, now.enable_seq)
                    == (state.state.clone(), state.ops.clone(), state.enable_seq)
            })
    }

    /// Whether /proc/PID/fdinfo shows `link`; see the kernel's kernel/bpf/syscall.c,
    /// `bpf_link_show_fdinfo`.
    fn has_open(&self, pid: u32, link: u32) -> bool {
        // A process that is gone holds nothing.
        let place = self.root.at(format!("/proc/{pid}/fdinfo"));
        let files = fs::read_dir(place).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_to_string(file.path()).ok()).any(|text| {
            let mut ids = text.lines().filter_map(|line| line.strip_prefix("link_id:"));
            ids.any(|id| id.trim().parse() == Ok(link))
        })
    }
}

/// The service of the system that a process is in, by its /proc/PID/cgroup.
fn find_unit(cgroups: &str) -> Option<String> {
    cgroups.lines().find_map(|line| {
        let path = line.splitn(3, ':').nth(2)?;
        let inside = path.strip_prefix("/system.slice/")?;
        inside.split('/').find(|name| name.ends_with(".service")).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_sysfs::FakeSysfs;

    fn world(tree: &FakeSysfs) -> World {
        let link = |name: &str| (name == "bfs").then_some(7);
        World { root: tree.root(), link, patience: Duration::ZERO }
    }

    #[test]
    fn the_process_that_has_the_link_open_owns_the_scheduler() {
        let tree = FakeSysfs::with("bfs", 3);
        tree.open_file(
            40,
            3,
            "pos:\t0\nflags:\t02000000\nlink_type:\tstruct_ops\nlink_id:\t7\nmap_id:\t9\n",
        );
        tree.open_file(41, 3, "pos:\t0\nmap_id:\t7\n");
        tree.open_file(42, 3, "link_id:\t70\n");
        let world = world(&tree);
        let state = world.enabled_since(2).unwrap();
        assert!(world.is_held_by([39, 41, 40], &state));
        assert!(!world.is_held_by([41, 42, 43], &state));
        assert!(!world.is_held_by([], &state));
    }

    #[test]
    fn another_attachment_of_that_name_has_another_owner() {
        let tree = FakeSysfs::with("bfs", 3);
        tree.open_file(40, 3, "link_id:\t7\n");
        let world = world(&tree);
        let state = world.enabled_since(2).unwrap();
        tree.put("bfs", 4);
        assert!(!world.is_held_by([40], &state));
    }

    #[test]
    fn without_a_link_no_owner_is_known() {
        let tree = FakeSysfs::with("other", 3);
        tree.open_file(40, 3, "link_id:\t7\n");
        let world = world(&tree);
        assert!(!world.is_held_by([40], &world.enabled_since(2).unwrap()));
    }

    #[test]
    fn only_a_new_attachment_counts() {
        let tree = FakeSysfs::with("bfs", 3);
        assert_eq!(world(&tree).enabled_since(3), None);
        tree.put("", 4);
        assert_eq!(world(&tree).enabled_since(3), None);
        tree.put("bfs", 4);
        tree.pipe("nr_rejected");
        assert_eq!(world(&tree).enabled_since(3), None);
    }

    #[test]
    fn what_keeps_a_scheduler_in_charge_is_found_with_its_service() {
        let tree = FakeSysfs::with("bfs", 3);
        let world = world(&tree);
        let found = world.in_charge().unwrap();
        assert_eq!(found.to_string(), "the scheduler bfs is in charge, which no process has open");
        tree.open_file(40, 3, "link_id:\t7\n");
        fs::write(tree.root().at("/proc/40/comm"), "scx_x\n").unwrap();
        let text = world.in_charge().unwrap().to_string();
        assert_eq!(text, "process 40 (scx_x) has the scheduler bfs in charge");
        let cgroup = tree.root().at("/proc/40/cgroup");
        fs::write(&cgroup, "0::/user.slice/user-1000.slice/session-2.scope\n").unwrap();
        assert_eq!(world.in_charge().unwrap().unit, None);
        fs::write(&cgroup, "1:cpu:/\n0::/system.slice/scx.service/inner\n").unwrap();
        let found = world.in_charge().unwrap();
        assert_eq!(found.unit.as_deref(), Some("scx.service"));
        assert_eq!(found.to_string(), "scx.service has the scheduler bfs in charge");
        tree.put("", 4);
        assert_eq!(world.in_charge(), None);
    }
}
