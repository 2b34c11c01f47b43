// SPDX-License-Identifier: GPL-2.0-only
//! Watches for limits of groups that work is in, or comes into, while it runs.
//!
//! The kernel tells what happens to groups (inotify(7)), so that nothing polls: work that leaves
//! control groups alone is not disturbed. A group may be gone a moment after it was made; hence a
//! thread looks at once, and as one of real time, before the work goes on.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};
use nix::libc;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, write};

use super::found::Found;
use super::watched::Groups;
use crate::root::Root;

/// A watch that goes on until its end.
#[derive(Debug)]
pub struct Watch {
    end: OwnedFd,
    thread: Option<JoinHandle<Found>>,
}

impl Watch {
    /// Starts to watch the hierarchy. `is_all_ours`: nothing but the work of this agent changes
    /// control groups, so a group that is changed is one that work is in.
    ///
    /// # Errors
    /// No cgroup v2 hierarchy is mounted, or the kernel does not give a watch.
    pub fn start(root: &Root, is_all_ours: bool) -> Result<Self> {
        let groups = Groups::open(root, is_all_ours)?;
        let end = eventfd(0, EventfdFlags::CLOEXEC).context("cannot make an event")?;
        let heard = end.try_clone().context("cannot hold an event")?;
        let (tell, ready) = mpsc::channel();
        let thread = thread::Builder::new().name("cpu-limits".into()).spawn(move || {
            run_before_others();
            // The other end waits.
            let _ = tell.send(());
            watch(groups, &heard)
        });
        let thread = thread.context("cannot start a thread")?;
        ready.recv().context("the thread has ended")?;
        Ok(Self { end, thread: Some(thread) })
    }

    /// Ends the watch; limits that groups have now are found too.
    pub fn end(mut self) -> Found {
        self.join().unwrap_or_else(|| Found::unwatched("their watch has failed".into()))
    }

    fn join(&mut self) -> Option<Found> {
        let thread = self.thread.take()?;
        // The counter cannot be full.
        let _ = write(&self.end, &1_u64.to_ne_bytes());
        thread.join().ok()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.join();
    }
}

/// Gives this thread the lowest priority of real time, if it may have that: a scheduler that is
/// measured could let it wait.
fn run_before_others() {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: `parameters` outlives the call.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
}

fn watch(mut groups: Groups, end: &OwnedFd) -> Found {
    loop {
        let mut both =
            [groups.as_fd(), end.as_fd()].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        match poll(&mut both, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => {
                groups.miss(|| format!("they could not be watched: {error}"));
                return groups.end();
            }
        }
        let is_over = !both[1].revents().is_empty();
        groups.take_events();
        if is_over {
            return groups.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::path::PathBuf;
    use std::process::{Child, Command};

    use tempfile::TempDir;

    use super::super::watched::MOST;
    use super::*;
    use crate::cgroup::Purpose;
    use crate::owner::Agent;

    /// Directories and files where a kernel with the controller `cpu` would have groups.
    struct Tree {
        directory: TempDir,
        own: String,
    }

    impl Tree {
        /// With a group of this agent, in which work is.
        fn new(purpose: Purpose) -> Self {
            let own = Agent::this().name(purpose.word());
            let tree = Self { directory: TempDir::new().unwrap(), own };
            let mounts = tree.directory.path().join("proc/self");
            fs::create_dir_all(&mounts).unwrap();
            let line = "31 25 0:27 / /cg rw,relatime - cgroup2 cgroup2 rw\n";
            fs::write(mounts.join("mountinfo"), line).unwrap();
            tree.group("");
            tree.group(&tree.own);
            tree
        }

        fn path(&self, group: &str) -> PathBuf {
            self.directory.path().join("cg").join(group)
        }

        fn group(&self, group: &str) {
            fs::create_dir_all(self.path(group)).unwrap();
            self.write(group, "cpu.max", "max 100000");
            self.write(group, "cpu.weight", "100");
            self.write(group, "cgroup.threads", "");
        }

        /// In one step, as the kernel changes a file: a reader never finds it empty.
        fn write(&self, group: &str, file: &str, text: &str) {
            let path = self.path(group).join(file);
            let mut file =
                File::options().write(true).create(true).truncate(false).open(path).unwrap();
            file.write_all(format!("{text:\n<32}").as_bytes()).unwrap();
        }

        fn watch(&self, is_all_ours: bool) -> Watch {
            Watch::start(&Root::below(self.directory.path()), is_all_ours).unwrap()
        }

        /// What is found on a machine with others if `happens` while the work runs.
        fn found(&self, happens: impl FnOnce(&Self)) -> Found {
            let watch = self.watch(false);
            happens(self);
            watch.end()
        }
    }

    /// A process of the work.
    struct Member(Child);

    impl Member {
        fn start() -> Self {
            Self(Command::new("sleep").arg("600").spawn().unwrap())
        }

        fn id(&self) -> String {
            self.0.id().to_string()
        }
    }

    impl Drop for Member {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    const QUOTA: &str = "20000 100000";

    #[test]
    fn its_thread_runs_before_all_normal_tasks() {
        let tree = Tree::new(Purpose::Workload);
        let watch = tree.watch(false);
        let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
        let is_ours = |task: &PathBuf| {
            fs::read_to_string(task.join("comm")).is_ok_and(|name| name == "cpu-limits\n")
        };
        let policies: Vec<_> = tasks.filter(is_ours).map(|task| policy(&task)).collect();
        drop(watch);
        if !rustix::process::geteuid().is_root() {
            eprintln!("not tried: not root");
            return;
        }
        assert!(!policies.is_empty());
        // Tests beside this one have such threads too, which may just have begun or ended.
        assert!(policies.contains(&libc::SCHED_FIFO), "{policies:?}");
    }

    fn policy(task: &std::path::Path) -> i32 {
        let tid = task.file_name().unwrap().to_str().unwrap().parse().unwrap();
        // SAFETY: a plain number.
        unsafe { libc::sched_getscheduler(tid) }
    }

    #[test]
    fn work_without_limits_has_none() {
        let tree = Tree::new(Purpose::Workload);
        tree.group("another");
        tree.write("another", "cpu.max", QUOTA);
        let found = tree.found(|tree| {
            tree.group("more");
            tree.write("more", "cpu.weight", "50");
            tree.write(&tree.own, "cpu.max", "max 100000");
        });
        assert_eq!(found, Found::default());
    }

    #[test]
    fn limits_of_the_group_of_the_work_and_above_it_count_at_any_time() {
        let tree = Tree::new(Purpose::Workload);
        tree.write("", "cpu.weight", "79");
        let found = tree.found(|tree| {
            tree.write(&tree.own, "cpu.max", QUOTA);
            tree.write("", "cpu.weight", "100");
        });
        assert_eq!(found.limits(), ["/: cpu.weight 79", "workload: cpu.max 20000 100000"]);
        assert_eq!(tree.found(|_| ()).limits(), ["workload: cpu.max 20000 100000"]);
    }

    #[test]
    fn groups_in_that_of_the_work_count_however_deep() {
        let tree = Tree::new(Purpose::Load);
        let found = tree.found(|tree| {
            let deep = format!("{}/a/b/c", tree.own);
            tree.group(&deep);
            tree.write(&deep, "cpu.weight", "1");
        });
        assert_eq!(found.limits(), ["load/a/b/c: cpu.weight 1"]);
    }

    #[test]
    fn a_group_that_was_there_counts_once_work_comes_into_it() {
        let tree = Tree::new(Purpose::Workload);
        let member = Member::start();
        tree.group("limited/inner");
        tree.write("limited", "cpu.max", QUOTA);
        assert_eq!(tree.found(|_| ()), Found::default());
        let found = tree.found(|tree| {
            tree.write("limited/inner", "cgroup.threads", &member.id());
            tree.write("limited/inner", "cgroup.procs", &member.id());
        });
        assert_eq!(found.limits(), ["/limited: cpu.max 20000 100000"]);
        assert_eq!(tree.found(|_| ()), found, "it is in there at the start");
    }

    #[test]
    fn processes_of_others_do_not_count() {
        let tree = Tree::new(Purpose::Workload);
        let found = tree.found(|tree| {
            tree.group("others");
            tree.write("others", "cgroup.threads", "1\n2\n");
            tree.write("others", "cpu.max", QUOTA);
        });
        assert_eq!(found, Found::default());
    }

    #[test]
    fn where_nobody_else_is_every_group_that_changes_counts() {
        let tree = Tree::new(Purpose::Workload);
        tree.group("left");
        tree.write("left", "cpu.max", QUOTA);
        let watch = tree.watch(true);
        tree.group("g");
        tree.write("g", "cpu.max", QUOTA);
        assert_eq!(watch.end().limits(), ["/g: cpu.max 20000 100000"]);
    }

    #[test]
    fn more_groups_than_are_watched_are_told() {
        let tree = Tree::new(Purpose::Workload);
        let watch = tree.watch(true);
        for group in 0..=MOST {
            fs::create_dir(tree.path(&group.to_string())).unwrap();
        }
        tree.write(&tree.own, "cpu.max", QUOTA);
        let found = watch.end();
        assert_eq!(found.unwatched, format!("there were more than {MOST}"));
        assert_eq!(found.limits(), ["workload: cpu.max 20000 100000"]);
    }
}
