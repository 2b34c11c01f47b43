// SPDX-License-Identifier: GPL-2.0-only
//! Reads /sys/kernel/sched_ext: see the kernel's Documentation/scheduler/sched-ext.rst and, for
//! kernels with sub-schedulers (7.1), kernel/sched/ext.c, `scx_sched_sysfs_add`.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use machine::root::Root;
use nix::fcntl::OFlag;
use protocol::State;
use thiserror::Error;

pub const ROOT: &str = "/sys/kernel/sched_ext";

/// Time between two looks while waiting for a change.
pub(crate) const POLL: Duration = Duration::from_millis(10);

/// Most bytes of an attribute, which is at most a page.
const LONGEST: u64 = 4096;

/// Deepest nesting to look for; the kernel refuses more than 4 (SCX_SUB_MAX_DEPTH).
const DEEPEST: usize = 16;

/// The directory is there, but an attribute is missing or cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{} {reason}", path.display())]
pub struct Unreadable {
    path: PathBuf,
    reason: String,
}

/// A scheduler below the one at the root, for a control group and those in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubScheduler {
    pub ops: String,
    /// The group's number, which is its directory's inode.
    pub cgroup: u64,
}

/// The directory of sched_ext in a sysfs.
#[derive(Debug, Clone)]
pub struct SchedExt {
    root: PathBuf,
}

impl SchedExt {
    /// The directory of the running kernel.
    pub fn here() -> Self {
        Self::below(&Root::machine())
    }

    /// The directory of a machine, which may be a recorded or fake tree.
    pub fn below(root: &Root) -> Self {
        Self { root: root.at(ROOT) }
    }

    /// Reads the state. Everything is empty or 0 on a kernel without sched_ext; `ops` is empty
    /// while no scheduler is attached.
    ///
    /// # Errors
    /// An attribute is missing or has a value that no kernel writes.
    pub fn state(&self) -> Result<State, Unreadable> {
        if !self.root.exists() {
            return Ok(State::default());
        }
        Ok(State {
            state: self.word("state")?,
            ops: self.ops()?,
            enable_seq: self.number("enable_seq")?,
            nr_rejected: self.number("nr_rejected")?,
            switch_all: self.number("switch_all")?,
        })
    }

    /// How often CPUs came and went; a scheduler that names another count is refused.
    ///
    /// # Errors
    /// The attribute cannot be read.
    pub fn hotplug_seq(&self) -> Result<u64, Unreadable> {
        self.number("hotplug_seq")
    }

    /// Whether the scheduler in charge lets others schedule control groups below it.
    pub fn has_sub_schedulers(&self) -> bool {
        self.root.join("root/sub").is_dir()
    }

    /// All sub-schedulers that are attached at the moment.
    pub fn sub_schedulers(&self) -> Vec<SubScheduler> {
        let mut found = Vec::new();
        self.sub_schedulers_in(Path::new("root/sub"), DEEPEST, &mut found);
        found
    }

    fn sub_schedulers_in(&self, folder: &Path, depth: usize, found: &mut Vec<SubScheduler>) {
        // A sub-scheduler that has just gone has none below it.
        let Ok(entries) = fs::read_dir(self.root.join(folder)) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("sub-")?.parse().ok());
            let Some(cgroup) = number else { continue };
            let own = folder.join(&name);
            if let Ok(ops) = self.word(own.join("ops")) {
                found.push(SubScheduler { ops, cgroup });
            }
            if depth > 0 {
                self.sub_schedulers_in(&own.join("sub"), depth - 1, found);
            }
        }
    }

    fn ops(&self) -> Result<String, Unreadable> {
        if !self.root.join("root").exists() {
            return Ok(String::new());
        }
        match self.text(Path::new("root/ops")) {
            // It was detached between the two looks.
            Err((_, ErrorKind::NotFound)) => Ok(String::new()),
            other => other.map_err(|(error, _)| error),
        }
    }

    /// Reads an attribute that must not be empty.
    fn word(&self, name: impl AsRef<Path>) -> Result<String, Unreadable> {
        let word = self.text(name.as_ref()).map_err(|(error, _)| error)?;
        if word.is_empty() {
            return Err(self.unreadable(name.as_ref(), "is empty"));
        }
        Ok(word)
    }

    fn number(&self, name: &str) -> Result<u64, Unreadable> {
        let word = self.word(name)?;
        word.parse().map_err(|_| {
            self.unreadable(name.as_ref(), &format!("says {word:?}, which is not a number"))
        })
    }

    /// Reads an attribute without ever waiting: it may be a pipe.
    fn text(&self, name: &Path) -> Result<String, (Unreadable, ErrorKind)> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
        let read = || -> std::io::Result<String> {
            let file = options.open(self.root.join(name))?;
            if !file.metadata()?.is_file() {
                return Err(std::io::Error::other("it is not a file"));
            }
            let mut text = String::new();
            file.take(LONGEST).read_to_string(&mut text)?;
            Ok(text.trim().to_owned())
        };
        read().map_err(|error| {
            (self.unreadable(name, &format!("cannot be read: {error}")), error.kind())
        })
    }

    fn unreadable(&self, name: &Path, reason: &str) -> Unreadable {
        Unreadable { path: self.root.join(name), reason: reason.to_owned() }
    }
}

/// The running kernel's state; empty if it cannot be read.
pub fn read() -> State {
    SchedExt::here().state().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_sysfs::FakeSysfs;

    #[test]
    fn a_kernel_without_sched_ext_has_an_empty_state() {
        let nothing = SchedExt::below(&Root::below("/nonexistent"));
        assert_eq!(nothing.state(), Ok(State::default()));
        assert!(!nothing.has_sub_schedulers());
    }

    #[test]
    fn the_state_is_read() {
        let tree = FakeSysfs::with("bfs", 3);
        let state = tree.sched_ext().state().unwrap();
        assert_eq!((state.state.as_str(), state.ops.as_str()), ("enabled", "bfs"));
        assert_eq!((state.enable_seq, state.switch_all, state.nr_rejected), (3, 1, 0));
        let state = FakeSysfs::with("", 3).sched_ext().state().unwrap();
        assert_eq!((state.state.as_str(), state.ops.as_str()), ("disabled", ""));
    }

    #[test]
    fn values_that_no_kernel_writes_are_named() {
        for (file, text, words) in [
            ("state", "", "state is empty"),
            ("enable_seq", "", "enable_seq is empty"),
            ("enable_seq", "-1\n", "enable_seq says \"-1\", which is not a number"),
            ("nr_rejected", "many\n", "nr_rejected says \"many\", which is not a number"),
            ("switch_all", "\0\u{1}", "which is not a number"),
        ] {
            let tree = FakeSysfs::with("bfs", 3);
            tree.write(file, text);
            let error = tree.sched_ext().state().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let tree = FakeSysfs::with("bfs", 3);
        tree.write_bytes("root/ops", b"\xff\xfe");
        assert!(
            tree.sched_ext().state().unwrap_err().to_string().contains("root/ops cannot be read")
        );
    }

    #[test]
    fn a_missing_attribute_is_named() {
        let tree = FakeSysfs::with("bfs", 3);
        tree.remove("nr_rejected");
        let error = tree.sched_ext().state().unwrap_err().to_string();
        assert!(error.contains("nr_rejected cannot be read"), "{error}");
    }

    #[test]
    fn a_pipe_or_a_directory_does_not_make_the_reader_wait() {
        let tree = FakeSysfs::with("bfs", 3);
        tree.pipe("state");
        assert!(tree.sched_ext().state().unwrap_err().to_string().contains("it is not a file"));
        let tree = FakeSysfs::with("bfs", 3);
        tree.remove("enable_seq");
        tree.directory("enable_seq");
        assert!(tree.sched_ext().state().is_err());
    }

    #[test]
    fn only_the_beginning_of_an_endless_attribute_is_read() {
        let tree = FakeSysfs::with("bfs", 3);
        tree.write("root/ops", &"x".repeat(1 << 20));
        assert_eq!(tree.sched_ext().state().unwrap().ops.len(), 4096);
    }

    #[test]
    fn sub_schedulers_are_found_below_each_other() {
        let tree = FakeSysfs::with("top", 3);
        assert!(!tree.sched_ext().has_sub_schedulers());
        tree.write("root/sub/sub-41/ops", "inner\n");
        tree.write("root/sub/sub-41/sub/sub-97/ops", "innermost\n");
        tree.write("root/sub/other/ops", "no sub-scheduler\n");
        tree.directory("root/sub/sub-5");
        assert!(tree.sched_ext().has_sub_schedulers());
        let mut found = tree.sched_ext().sub_schedulers();
        found.sort_by_key(|each| each.cgroup);
        let expected = [(41, "inner"), (97, "innermost")];
        assert_eq!(found, expected.map(|(cgroup, ops)| SubScheduler { ops: ops.into(), cgroup }));
    }
}
