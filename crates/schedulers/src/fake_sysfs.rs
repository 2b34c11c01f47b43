// SPDX-License-Identifier: GPL-2.0-only
//! A machine for tests: a directory with /sys/kernel/sched_ext and /proc.

use std::fs;
use std::path::{Path, PathBuf};

use machine::root::Root;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

use crate::sysfs::{self, SchedExt};

pub struct FakeSysfs {
    folder: TempDir,
}

impl FakeSysfs {
    /// A machine with `ops` in charge, or no scheduler if it is empty; `enable_seq` is the number
    /// of the last attachment.
    pub fn with(ops: &str, enable_seq: u64) -> Self {
        let tree = Self { folder: TempDir::new().unwrap() };
        tree.put(ops, enable_seq);
        tree
    }

    /// Changes the scheduler in charge.
    pub fn put(&self, ops: &str, enable_seq: u64) {
        let _none_yet = fs::remove_dir_all(self.sched_ext_path().join("root"));
        let attached = !ops.is_empty();
        self.write("state", if attached { "enabled\n" } else { "disabled\n" });
        self.write("enable_seq", &format!("{enable_seq}\n"));
        self.write("hotplug_seq", "0\n");
        self.write("nr_rejected", "0\n");
        self.write("switch_all", if attached { "1\n" } else { "0\n" });
        if attached {
            self.write("root/ops", &format!("{ops}\n"));
        }
    }

    pub fn root(&self) -> Root {
        Root::below(self.folder.path())
    }

    pub fn sched_ext(&self) -> SchedExt {
        SchedExt::below(&self.root())
    }

    pub fn proc(&self) -> PathBuf {
        self.root().at("/proc")
    }

    /// Adds a thread to /proc.
    pub fn thread(&self, tid: i32, prio: i64, in_class: bool) {
        let text = format!(
            "sh ({tid}, #threads: 1)\n---\npolicy   :   0\nprio     :   {prio}\next.enabled   :   {}\n",
            i32::from(in_class)
        );
        self.write_at(&self.proc().join(format!("{tid}/sched")), text.as_bytes());
    }

    /// Adds a thread as a kernel without CONFIG_SCHED_DEBUG shows it.
    pub fn bare_thread(&self, tid: i32, policy: u32) {
        let before =
            "S 1 1 1 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 99 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0";
        let text = format!("{tid} (a) b (c) {before} {policy} 0 0 0\n");
        self.write_at(&self.proc().join(format!("{tid}/stat")), text.as_bytes());
    }

    /// Adds an open file of a process.
    pub fn open_file(&self, pid: u32, fd: u32, about: &str) {
        self.write_at(&self.proc().join(format!("{pid}/fdinfo/{fd}")), about.as_bytes());
    }

    pub fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    pub fn write_bytes(&self, name: &str, bytes: &[u8]) {
        self.write_at(&self.sched_ext_path().join(name), bytes);
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.sched_ext_path().join(name)).unwrap();
    }

    pub fn directory(&self, name: &str) {
        fs::create_dir_all(self.sched_ext_path().join(name)).unwrap();
    }

    /// Puts a pipe in place of the file `name`.
    pub fn pipe(&self, name: &str) {
        self.remove(name);
        mkfifo(&self.sched_ext_path().join(name), Mode::S_IRWXU).unwrap();
    }

    fn sched_ext_path(&self) -> PathBuf {
        self.root().at(sysfs::ROOT)
    }

    fn write_at(&self, path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}
