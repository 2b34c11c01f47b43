// SPDX-License-Identifier: GPL-2.0-only
//! The scheduling class of the work's threads, as /proc shows it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nix::libc::{SCHED_DEADLINE, SCHED_FIFO, SCHED_RR};

/// The class of a thread; if two looks differ, the later one in this order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The kernel does not show the class: it is older than 6.15 and has no CONFIG_SCHED_DEBUG.
    Hidden,
    /// Above sched_ext's class by design.
    Realtime,
    Inside,
    Outside,
}

/// Threads that were checked, each with its class.
#[derive(Debug, Default)]
pub struct Threads {
    seen: BTreeMap<i32, Class>,
}

impl Threads {
    /// Looks at the thread `tid` in `proc`. One that is gone is not counted.
    pub fn look_at(&mut self, proc: &Path, tid: i32) {
        if let Some(class) = class(&proc.join(tid.to_string())) {
            let seen = self.seen.entry(tid).or_insert(class);
            *seen = class.max(*seen);
        }
    }

    pub fn count(&self, class: Class) -> u32 {
        let count = self.seen.values().filter(|&&seen| seen == class).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

fn class(thread: &Path) -> Option<Class> {
    let told = fs::read_to_string(thread.join("sched")).ok().and_then(|text| of_sched(&text));
    told.or_else(|| of_stat(&fs::read_to_string(thread.join("stat")).ok()?))
}

/// The class from /proc/PID/sched; see the kernel's kernel/sched/debug.c, `proc_sched_show_task`.
fn of_sched(text: &str) -> Option<Class> {
    let value = |key: &str| {
        let line = text
            .lines()
            .find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
        line.rsplit(':').next()?.trim().parse::<i64>().ok()
    };
    if value("prio")? < 100 {
        return Some(Class::Realtime);
    }
    Some(if value("ext.enabled")? == 1 { Class::Inside } else { Class::Outside })
}

/// The class from the policy in /proc/PID/stat: field 41, which is 39 after the name, which may
/// hold anything.
fn of_stat(text: &str) -> Option<Class> {
    let policy: i32 = text.rsplit_once(')')?.1.split_ascii_whitespace().nth(38)?.parse().ok()?;
    let realtime = [SCHED_FIFO, SCHED_RR, SCHED_DEADLINE].contains(&policy);
    Some(if realtime { Class::Realtime } else { Class::Hidden })
}

#[cfg(test)]
mod tests {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    use nix::unistd::Pid;

    use super::*;
    use crate::fake_sysfs::FakeSysfs;

    fn only(tree: &FakeSysfs, tid: i32) -> Option<Class> {
        class(&tree.proc().join(tid.to_string()))
    }

    #[test]
    fn the_class_is_read_from_proc_sched() {
        let tree = FakeSysfs::with("bfs", 1);
        tree.thread(1, 120, true);
        tree.thread(2, 139, false);
        tree.thread(3, 49, false);
        tree.thread(4, -1, false);
        let seen = [1, 2, 3, 4, 5].map(|tid| only(&tree, tid));
        use Class::{Inside, Outside, Realtime};
        assert_eq!(seen, [Some(Inside), Some(Outside), Some(Realtime), Some(Realtime), None]);
    }

    #[test]
    fn a_kernel_that_hides_the_class_still_shows_the_policy() {
        let tree = FakeSysfs::with("bfs", 1);
        tree.bare_thread(1, 0);
        tree.bare_thread(2, 1);
        tree.bare_thread(3, 6);
        let seen = [1, 2, 3].map(|tid| only(&tree, tid));
        assert_eq!(seen, [Some(Class::Hidden), Some(Class::Realtime), Some(Class::Realtime)]);
    }

    #[test]
    fn this_kernel_shows_the_policy_of_this_thread() {
        let text = fs::read_to_string("/proc/thread-self/stat").unwrap();
        assert_eq!(of_stat(&text), Some(Class::Hidden));
    }

    #[test]
    fn a_process_that_has_ended_is_seen_until_it_is_reaped() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        waitid(Id::Pid(Pid::from_raw(child.id().cast_signed())), flags).unwrap();
        let process = Path::new("/proc").join(child.id().to_string());
        assert!(class(&process).is_some());
        child.wait().unwrap();
        assert_eq!(class(&process), None);
    }

    #[test]
    fn a_thread_counts_once_and_with_its_worst_class() {
        let tree = FakeSysfs::with("bfs", 1);
        let mut threads = Threads::default();
        for in_class in [true, false, true] {
            tree.thread(7, 120, in_class);
            threads.look_at(&tree.proc(), 7);
        }
        tree.thread(8, 49, false);
        threads.look_at(&tree.proc(), 8);
        tree.thread(8, 120, true);
        threads.look_at(&tree.proc(), 8);
        let counts = [Class::Inside, Class::Outside, Class::Realtime].map(|c| threads.count(c));
        assert_eq!(counts, [1, 1, 0]);
    }
}
