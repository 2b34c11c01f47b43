// SPDX-License-Identifier: GPL-2.0-only
//! The owner of a scheduler in charge: a process that has its struct_ops link open.

use std::fs;
use std::path::Path;
use std::time::Duration;

use bpf::struct_ops;
use machine::root::Root;
use protocol::State;

use crate::sysfs::SchedExt;

/// A machine, or a tree that stands in for it, as far as it shows the scheduler in charge.
pub struct World {
    pub root: Root,
    /// The number of the link that keeps the scheduler of that name in charge; None if the kernel shows none.
    pub link: fn(&str) -> Option<u32>,
    /// How long a program is given to end at each signal before the next, harder one.
    pub patience: Duration,
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
        processes.any(|pid| has_open(&self.root.at(format!("/proc/{pid}")), link))
            && SchedExt::below(&self.root).state().is_ok_and(|now| {
                (now.state, now.ops, now.enable_seq)
                    == (state.state.clone(), state.ops.clone(), state.enable_seq)
            })
    }
}

/// Whether /proc/PID/fdinfo shows `link`; see the kernel's kernel/bpf/syscall.c,
/// `bpf_link_show_fdinfo`.
fn has_open(process: &Path, link: u32) -> bool {
    // A process that is gone holds nothing.
    let files = fs::read_dir(process.join("fdinfo")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_to_string(file.path()).ok()).any(|text| {
        let mut ids = text.lines().filter_map(|line| line.strip_prefix("link_id:"));
        ids.any(|id| id.trim().parse() == Ok(link))
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
}
