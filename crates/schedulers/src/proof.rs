// SPDX-License-Identifier: GPL-2.0-only
//! Proof of attachment: the attached scheduler was in charge from before the first instruction of
//! the work until after its last, and the work's threads were in its class; docs/trust.md.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Attachment;
use crate::kernel_log::KernelLog;
use crate::sysfs::{SchedExt, Unreadable};
use crate::threads::{Class, Threads};
use machine::cgroup::Cgroup;
use machine::cpu_limits::Found;
use machine::root::Root;
use protocol::{Attached, CpuLimits, Proof, Scheduler, State};

pub use crate::objection::{attachment, objection};

/// Most threads that are checked in one pass; more would disturb the work.
const LOOK_LIMIT: usize = 16;

/// Observes one sample.
pub struct Witness {
    sched_ext: SchedExt,
    proc: PathBuf,
    log: KernelLog,
    object: String,
    attached: Attached,
    before: State,
    unreadable: Vec<String>,
    threads: Threads,
    /// The numbers of the work's control group and of those above it, read when they matter.
    lineage: Vec<u64>,
    sub_schedulers: Vec<String>,
    cpu_limits: CpuLimits,
}

impl Witness {
    pub fn before(attachment: &Attachment) -> Self {
        let attached =
            Attached { ops: attachment.ops_name().to_owned(), enable_seq: attachment.enable_seq() };
        let object = attachment.object_sha256().to_owned();
        Self::over(&Root::machine(), attached, object)
    }

    /// A witness on a machine that may be a fake one.
    fn over(root: &Root, attached: Attached, object: String) -> Self {
        let mut witness = Self {
            sched_ext: SchedExt::below(root),
            proc: root.at("/proc"),
            log: KernelLog::open(),
            object,
            attached,
            before: State::default(),
            unreadable: Vec::new(),
            threads: Threads::default(),
            lineage: Vec::new(),
            sub_schedulers: Vec::new(),
            cpu_limits: CpuLimits::default(),
        };
        witness.before = witness.state();
        witness
    }

    /// Looks at threads of the work: at its `leader`, which shows its class until it is reaped,
    /// even after its end, and at others that exist at the moment.
    pub fn look_at(&mut self, cgroup: &Cgroup, leader: u32) {
        if self.attached.ops.is_empty() {
            return;
        }
        if self.sched_ext.has_sub_schedulers() && self.lineage.is_empty() {
            self.lineage = lineage(cgroup.path());
        }
        self.look(leader.cast_signed(), &cgroup.threads());
    }

    fn look(&mut self, leader: i32, threads: &[i32]) {
        let others = threads.iter().copied().filter(|&tid| tid != leader);
        for tid in std::iter::once(leader).chain(others).take(LOOK_LIMIT) {
            self.threads.look_at(&self.proc, tid);
        }
        self.look_below();
    }

    /// Notes the limits that the work was under.
    pub fn note_limits(&mut self, found: &Found, scheduler: &Scheduler) {
        self.cpu_limits = CpuLimits {
            found: found.limits(),
            unwatched: found.unwatched.clone(),
            applied: match scheduler {
                Scheduler::Default => Some(true),
                Scheduler::Builtin { .. } => Some(false),
                Scheduler::Object { .. } | Scheduler::Program { .. } => None,
            },
        };
    }

    /// Notes sub-schedulers that have the work's control group or one above it: then the nearest of
    /// them schedules the work.
    fn look_below(&mut self) {
        if self.lineage.is_empty() {
            return;
        }
        for sub in self.sched_ext.sub_schedulers() {
            if self.lineage.contains(&sub.cgroup) && !self.sub_schedulers.contains(&sub.ops) {
                self.sub_schedulers.push(sub.ops);
            }
        }
    }

    pub fn after(mut self) -> Proof {
        let after = self.state();
        self.look_below();
        Proof {
            threads_checked: self.threads.count(Class::Inside) + self.threads.count(Class::Outside),
            threads_outside: self.threads.count(Class::Outside),
            threads_realtime: self.threads.count(Class::Realtime),
            threads_unjudged: self.threads.count(Class::Hidden),
            attached: self.attached,
            before: self.before,
            after,
            sub_schedulers: self.sub_schedulers,
            cpu_limits: self.cpu_limits,
            settings: Vec::new(),
            unreadable: self.unreadable.join("; "),
            kernel_log: self.log.sched_ext().to_vec(),
            exit: None,
            object: self.object,
        }
    }

    fn state(&mut self) -> State {
        self.sched_ext.state().unwrap_or_else(|error: Unreadable| {
            self.unreadable.push(error.to_string());
            State::default()
        })
    }
}

/// The number of a control group, which is its directory's inode, and the numbers of the groups
/// above it, as far as they are visible here.
fn lineage(cgroup: &Path) -> Vec<u64> {
    let Ok(own) = fs::metadata(cgroup) else { return Vec::new() };
    let above = cgroup.ancestors().map_while(|path| fs::metadata(path).ok());
    above.take_while(|about| about.dev() == own.dev()).map(|about| about.ino()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_sysfs::FakeSysfs;

    const LEADER: i32 = 40;

    fn witness(tree: &FakeSysfs, ops: &str, enable_seq: u64) -> Witness {
        let attached = Attached { ops: ops.into(), enable_seq };
        Witness::over(&tree.root(), attached, String::new())
    }

    /// The objection to a sample of `ops` at attachment 3 if `meanwhile` happens after it was
    /// attached and before the work begins, and `later` while the work runs.
    fn judged(
        ops: &str,
        meanwhile: impl Fn(&FakeSysfs),
        later: impl Fn(&FakeSysfs),
    ) -> Option<String> {
        let tree = FakeSysfs::with(ops, 3);
        tree.thread(LEADER, 120, true);
        meanwhile(&tree);
        let mut witness = witness(&tree, ops, 3);
        if !ops.is_empty() {
            witness.look(LEADER, &[LEADER]);
        }
        later(&tree);
        objection(&witness.after())
    }

    fn nothing(_: &FakeSysfs) {}

    #[test]
    fn an_attachment_that_stays_is_proof() {
        assert_eq!(judged("bfs", nothing, nothing), None);
    }

    #[test]
    fn the_kernels_own_that_stays_is_proof() {
        assert_eq!(judged("", nothing, nothing), None);
        let nowhere = Root::below("/nonexistent");
        let witness = Witness::over(&nowhere, Attached::default(), String::new());
        assert_eq!(objection(&witness.after()), None);
    }

    #[test]
    fn a_scheduler_ejected_right_after_attaching_is_not_proof() {
        let reason = judged("bfs", |tree| tree.put("", 3), nothing).unwrap();
        assert_eq!(reason, "scheduler bfs was ejected before the work began");
    }

    #[test]
    fn a_scheduler_replaced_before_the_work_is_not_proof() {
        let reason = judged("bfs", |tree| tree.put("other", 4), nothing).unwrap();
        assert_eq!(
            reason,
            "the scheduler in charge changed before the work began: bfs (attachment 3) was attached, other (attachment 4) was in charge"
        );
    }

    #[test]
    fn another_attachment_under_the_same_name_is_not_proof() {
        let reason = judged("bfs", |tree| tree.put("bfs", 4), nothing).unwrap();
        assert!(reason.contains("bfs (attachment 3) was attached, bfs (attachment 4)"), "{reason}");
        let reason = judged("bfs", nothing, |tree| tree.put("bfs", 4)).unwrap();
        assert!(reason.contains("changed during the run"), "{reason}");
    }

    #[test]
    fn a_scheduler_attached_before_or_during_default_voids_it() {
        let reason = judged("", |tree| tree.put("bfs", 4), nothing).unwrap();
        assert!(
            reason.contains("the kernel's default (attachment 3) was attached, bfs"),
            "{reason}"
        );
        let reason = judged("", nothing, |tree| tree.put("bfs", 4)).unwrap();
        assert!(reason.contains("changed during the run"), "{reason}");
    }

    #[test]
    fn a_scheduler_that_came_and_went_voids_default() {
        assert!(judged("", |tree| tree.put("", 4), nothing).is_some());
        assert!(judged("", nothing, |tree| tree.put("", 4)).is_some());
    }

    #[test]
    fn a_state_that_cannot_be_read_is_not_proof() {
        for ops in ["bfs", ""] {
            for file in ["state", "enable_seq", "nr_rejected"] {
                let reason = judged(ops, |tree| tree.pipe(file), nothing).unwrap();
                assert!(reason.contains(file) && reason.contains("not a file"), "{reason}");
                let reason = judged(ops, nothing, |tree| tree.write(file, "")).unwrap();
                assert!(reason.contains(file) && reason.contains("is empty"), "{reason}");
            }
        }
        let reason = judged("bfs", |tree| tree.write("nr_rejected", "?"), nothing).unwrap();
        assert!(reason.contains("nr_rejected says \"?\", which is not a number"), "{reason}");
    }

    #[test]
    fn a_sub_scheduler_of_the_works_group_is_not_proof() {
        let tree = FakeSysfs::with("top", 3);
        tree.thread(LEADER, 120, true);
        tree.write("root/sub/sub-99/ops", "elsewhere\n");
        let seen = |tree: &FakeSysfs| {
            let mut witness = witness(tree, "top", 3);
            witness.lineage = vec![7, 5, 1];
            witness.look(LEADER, &[]);
            witness.after()
        };
        assert_eq!(objection(&seen(&tree)), None);
        tree.write("root/sub/sub-5/ops", "inner\n");
        let reason = objection(&seen(&tree)).unwrap();
        assert_eq!(
            reason,
            "the workload's control group was scheduled by inner, a sub-scheduler below top"
        );
    }

    #[test]
    fn a_group_has_a_lineage() {
        let folder = tempfile::TempDir::new().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let inode = |path: &Path| fs::metadata(path).unwrap().ino();
        let found = lineage(&inner);
        let expected = [inode(&inner), inode(&folder.path().join("a")), inode(folder.path())];
        assert_eq!(found[..3], expected);
    }
}
