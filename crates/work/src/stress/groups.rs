// SPDX-License-Identifier: GPL-2.0-only
//! Control groups below our own; workers are moved between them, and their limits change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use nix::unistd::Pid;

use machine::cgroup::hierarchy;
use machine::root::Root;

/// A plain group, and one nested in another.
const NAMES: [&str; 3] = ["plain", "outer", "outer/inner"];

const LIMITS: [&str; 3] = ["max 100000", "20000 100000", "5000 10000"];
const WEIGHTS: [&str; 3] = ["100", "10", "1000"];

/// The groups; empty if they are not wanted. The process that started us removes them with our own.
#[derive(Default)]
pub struct Groups(Vec<PathBuf>);

impl Groups {
    /// Makes the groups and moves this process into one, because a group with groups may have no
    /// processes of its own.
    ///
    /// # Errors
    /// Our own group may not limit CPU time.
    pub fn make() -> Result<Self> {
        let own = own()?;
        let controllers = fs::read_to_string(own.join("cgroup.controllers"))?;
        let has_cpu = controllers.split_whitespace().any(|controller| controller == "cpu");
        let enable = own.parent().unwrap_or(&own).join("cgroup.subtree_control");
        ensure!(
            has_cpu,
            "--groups: no group may limit CPU time here: run `echo +cpu > {}`",
            enable.display()
        );
        let main = own.join("main");
        create(&main)?;
        write(&main.join("cgroup.procs"), "0")?;
        write(&own.join("cgroup.subtree_control"), "+cpu")?;
        let mut all = vec![main];
        for name in NAMES {
            let group = own.join(name);
            create(&group)?;
            if name == "outer" {
                write(&group.join("cgroup.subtree_control"), "+cpu")?;
            } else {
                all.push(group);
            }
        }
        Ok(Self(all))
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// # Errors
    /// The process is not there any more (ESRCH), or the kernel refuses to move it.
    pub fn join(&self, process: Pid, group: usize) -> io::Result<()> {
        fs::write(self.0[group].join("cgroup.procs"), process.to_string())
    }

    /// Changes quota and weight of a group; the first keeps its own, because this process is in it
    /// and must not be late.
    pub fn limit(&self, group: usize, choice: usize) -> Result<()> {
        if group == 0 {
            return Ok(());
        }
        write(&self.0[group].join("cpu.max"), LIMITS[choice % LIMITS.len()])?;
        write(&self.0[group].join("cpu.weight"), WEIGHTS[choice / LIMITS.len() % WEIGHTS.len()])
    }
}

fn own() -> Result<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup")?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"));
    let path = path.context("this process is in no control group of version 2")?;
    Ok(hierarchy(&Root::machine())?.join(path))
}

fn create(path: &Path) -> Result<()> {
    fs::create_dir(path).with_context(|| format!("cannot create the cgroup {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {text:?} to {}", path.display()))
}
