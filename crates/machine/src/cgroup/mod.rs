// SPDX-License-Identifier: GPL-2.0-only
//! Control groups (v2) that an agent makes for what it starts.

mod purpose;
mod tree;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Sub;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use procfs::FromRead;
use procfs::process::MountInfos;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, fstatfs, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::key_value::number;
use crate::mounts::unescaped;
use crate::owner::Agent;
use crate::process::{self, KILL_LIMIT};
use crate::removal::DIRECTORY;
use crate::root::Root;
pub use purpose::Purpose;
use tree::{file, nested, read, remove_below, visit};

const LOOK: Duration = Duration::from_millis(5);

/// Where systems mount the hierarchy, alone or beside those of version 1.
const USUAL_PLACE: &str = "/sys/fs/cgroup";

/// The magic number of the hierarchy's file system (include/uapi/linux/magic.h,
/// `CGROUP2_SUPER_MAGIC`).
const CGROUP2: i64 = 0x6367_7270;

/// Limits of nesting in a cgroup; the kernel refuses more.
const LIMITS: [(&str, &str); 2] = [("cgroup.max.depth", "32"), ("cgroup.max.descendants", "1000")];

/// A cgroup that exists. It stays when this is dropped: see [`Cgroup::remove`]. Its directory is
/// held open, so that a mount over its path does not hide it.
#[derive(Debug)]
pub struct Cgroup {
    path: PathBuf,
    parent: OwnedFd,
    directory: OwnedFd,
}

/// CPU time in seconds of everything that ever ran in a cgroup, from `cpu.stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuTime {
    pub user_s: f64,
    pub system_s: f64,
}

impl Sub for CpuTime {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { user_s: self.user_s - other.user_s, system_s: self.system_s - other.system_s }
    }
}

impl CpuTime {
    pub fn total_s(self) -> f64 {
        self.user_s + self.system_s
    }
}

impl Cgroup {
    /// # Errors
    /// No cgroup v2 hierarchy is mounted, or this process may not write to it.
    pub fn create(root: &Root, purpose: Purpose) -> Result<Self> {
        let (top, parent) = opened_hierarchy(root)?;
        Self::create_in(&top, parent, purpose)
    }

    /// Creates one inside this one, whose limits it is under.
    ///
    /// # Errors
    /// This one is gone.
    pub fn create_nested(&self, purpose: Purpose) -> Result<Self> {
        let parent = self.directory.try_clone().context("no file descriptors are left")?;
        Self::create_in(&self.path, parent, purpose)
    }

    fn create_in(top: &Path, parent: OwnedFd, purpose: Purpose) -> Result<Self> {
        let name = Agent::this().name(purpose.word());
        let path = top.join(&name);
        match mkdirat(&parent, &name, Mode::from_raw_mode(0o755)) {
            Ok(()) => {}
            Err(Errno::ACCESS | Errno::PERM) => {
                bail!("cannot create the cgroup {}: run as root", path.display())
            }
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("cannot create the cgroup {}", path.display()));
            }
        }
        let created = Self::open(top.to_owned(), parent, &name)
            .with_context(|| format!("cannot look into {}", path.display()))?;
        for (file, limit) in LIMITS {
            // The limits are new in Linux 4.14; without them a removal may take longer.
            let _ = created.write(file, limit);
        }
        Ok(created)
    }

    fn open(top: PathBuf, parent: OwnedFd, name: &str) -> io::Result<Self> {
        let directory = openat(&parent, name, DIRECTORY, Mode::empty())?;
        Ok(Self { path: top.join(name), parent, directory })
    }

    /// The cgroup's inode, which is its id in the kernel (fs/kernfs, `kernfs_id_ino`).
    ///
    /// # Errors
    /// Its directory cannot be read.
    pub fn id(&self) -> Result<u64> {
        let about = fstat(&self.directory);
        Ok(about.with_context(|| format!("cannot look at {}", self.path.display()))?.st_ino)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// # Errors
    /// The process has no file descriptors left.
    pub fn directory(&self) -> io::Result<File> {
        Ok(self.directory.try_clone()?.into())
    }

    /// Opens cgroup.procs for a child that moves itself in by writing `0`.
    ///
    /// # Errors
    /// The cgroup is gone.
    pub fn procs(&self) -> io::Result<File> {
        file(&self.directory, "cgroup.procs", OFlags::WRONLY)
    }

    /// Threads in the cgroup and in all cgroups nested in it.
    pub fn threads(&self) -> Vec<i32> {
        self.members("cgroup.threads").into_iter().map(u32::cast_signed).collect()
    }

    /// Processes in the cgroup and in all cgroups nested in it.
    pub fn processes(&self) -> BTreeSet<u32> {
        self.members("cgroup.procs")
    }

    fn members(&self, name: &str) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        visit(&self.directory, &mut |directory| {
            let text = read(directory, name).unwrap_or_default();
            found.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
        });
        found
    }

    pub fn populated(&self) -> bool {
        read(&self.directory, "cgroup.events").is_ok_and(|events| events.contains("populated 1"))
    }

    /// # Errors
    /// The cgroup is gone.
    pub fn cpu_time(&self) -> Result<CpuTime> {
        let path = self.path.join("cpu.stat");
        let text = read(&self.directory, "cpu.stat")
            .with_context(|| format!("cannot read {}", path.display()))?;
        parse_cpu_stat(&text)
            .with_context(|| format!("{} lacks user_usec or system_usec", path.display()))
    }

    /// How long its tasks were kept from CPUs because its quota was used, in seconds summed over CPUs, from `cpu.stat`.
    /// None where the kernel does not say.
    pub fn throttled_s(&self) -> Option<f64> {
        let text = read(&self.directory, "cpu.stat").ok()?;
        number::<f64>(&text, "throttled_usec").map(|us| us / 1e6)
    }

    /// Writes into one of its files.
    ///
    /// # Errors
    /// There is no such file, or the kernel does not take the text.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        file(&self.directory, name, OFlags::WRONLY)?.write_all(text.as_bytes())
    }

    /// # Errors
    /// There is no such file.
    pub fn read(&self, name: &str) -> io::Result<String> {
        read(&self.directory, name)
    }

    /// Waits at most `limit` for the cgroup to become empty by itself.
    pub fn drained_within(&self, limit: Duration) -> bool {
        let start = Instant::now();
        while self.populated() {
            if start.elapsed() > limit {
                return false;
            }
            sleep(LOOK);
        }
        true
    }

    /// Sends SIGKILL to all processes in it, however deep.
    pub fn kill(&self) {
        // A missing file means that the cgroup is gone already, or Linux is older than 5.14.
        if self.write("cgroup.kill", "1").is_err() {
            for pid in self.processes() {
                self.signal(pid, Signal::KILL);
            }
        }
    }

    /// Signals process `pid` if it is in this cgroup.
    pub fn signal(&self, pid: u32, signal: Signal) {
        process::signal_if(pid, signal, || self.processes().contains(&pid));
    }

    /// Tries to remove the cgroup; the error is the path that stays, and why.
    fn try_to_remove(&self) -> Result<(), (PathBuf, Errno)> {
        remove_below(&self.directory, &self.path)?;
        let name = self.path.file_name().unwrap_or_default();
        match unlinkat(&self.parent, name, AtFlags::REMOVEDIR) {
            Err(error) if self.is_there() => Err((self.path.clone(), error)),
            _ => Ok(()),
        }
    }

    /// Whether the cgroup still exists: a removed one has no files, even if its directory is held
    /// open.
    fn is_there(&self) -> bool {
        self.procs().is_ok()
    }

    /// Ends all processes in it and removes it with all cgroups nested in it.
    ///
    /// # Errors
    /// A process in it cannot be killed within 5 s, or a cgroup cannot be removed: it is still
    /// there.
    pub fn remove(&self) -> Result<()> {
        let start = Instant::now();
        loop {
            if self.populated() {
                self.kill();
            }
            let Err((directory, error)) = self.try_to_remove() else { return Ok(()) };
            if start.elapsed() > KILL_LIMIT {
                let held: Vec<_> = self.processes().iter().map(u32::to_string).collect();
                ensure!(
                    held.is_empty(),
                    "{} holds processes that cannot be killed: {}",
                    self.path.display(),
                    held.join(", ")
                );
                return Err(error)
                    .with_context(|| format!("cannot remove the cgroup {}", directory.display()));
            }
            sleep(LOOK);
        }
    }
}

/// The cgroups that dead agents have left behind.
///
/// # Errors
/// No cgroup v2 hierarchy is mounted.
pub fn left_behind(root: &Root) -> Result<Vec<Cgroup>> {
    let words = Purpose::words();
    let (top, parent) = opened_hierarchy(root)?;
    let names = nested(&parent).into_iter().filter_map(|name| name.into_string().ok());
    let ours = names.filter(|name| Agent::of(name, &words).is_some_and(|agent| !agent.is_there()));
    // A cgroup that cannot be opened has gone meanwhile.
    let opened = ours
        .filter_map(|name| Some(Cgroup::open(top.clone(), parent.try_clone().ok()?, &name).ok()));
    Ok(opened.flatten().collect())
}

/// The place of the hierarchy, and its directory.
fn opened_hierarchy(root: &Root) -> Result<(PathBuf, OwnedFd)> {
    let top = hierarchy(root)?;
    let opened = openat(CWD, &top, DIRECTORY, Mode::empty())
        .with_context(|| format!("cannot look into {}", top.display()))?;
    ensure!(
        fstatfs(&opened).is_ok_and(|about| about.f_type == CGROUP2),
        "something else is mounted on {}, so that no control groups can be made: unmount that",
        top.display()
    );
    Ok((top, opened))
}

/// Where the hierarchy is mounted. If it is in several places the usual one counts, so that every
/// agent looks in the same place for what another has left. The order of mounts is useless: it
/// depends on other mounts.
///
/// # Errors
/// No hierarchy is mounted.
pub fn hierarchy(root: &Root) -> Result<PathBuf> {
    let seen = MountInfos::from_file(root.at("/proc/self/mountinfo"));
    let mounts = seen.context("cannot read /proc/self/mountinfo")?;
    let hierarchies = mounts.0.into_iter().filter(|mount| mount.fs_type == "cgroup2");
    let places = hierarchies.map(|mount| unescaped(&mount.mount_point));
    match places.min_by_key(|place| (!place.starts_with(USUAL_PLACE), place.clone())) {
        Some(place) => Ok(root.at(place)),
        None => {
            bail!("no cgroup v2 hierarchy is mounted: run `mount -t cgroup2 none /sys/fs/cgroup`")
        }
    }
}

/// The times in a `cpu.stat`; None if it lacks one of the two.
pub fn parse_cpu_stat(text: &str) -> Option<CpuTime> {
    let seconds = |key| number::<f64>(text, key).map(|us| us / 1e6);
    Some(CpuTime { user_s: seconds("user_usec")?, system_s: seconds("system_usec")? })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn cpu_stat_is_read_in_seconds() {
        let text = "usage_usec 3500000\nuser_usec 2500000\nsystem_usec 1000000\nnr_periods 0\n";
        assert_eq!(parse_cpu_stat(text), Some(CpuTime { user_s: 2.5, system_s: 1.0 }));
        assert_eq!(parse_cpu_stat("usage_usec 1\n"), None);
    }

    fn machine(mountinfo: &str) -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("proc/self")).unwrap();
        fs::write(directory.path().join("proc/self/mountinfo"), mountinfo).unwrap();
        let root = Root::below(directory.path());
        (directory, root)
    }

    #[test]
    fn the_v2_hierarchy_is_found_beside_v1_whatever_its_name() {
        let (directory, root) = machine(
            "30 25 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
             31 25 0:27 / /sys/fs/cgroup/the\\040unified rw,relatime - cgroup2 cgroup2 rw\n",
        );
        assert_eq!(hierarchy(&root).unwrap(), directory.path().join("sys/fs/cgroup/the unified"));
        let (_directory, root) = machine("30 25 0:26 / /proc rw - proc proc rw\n");
        assert!(hierarchy(&root).unwrap_err().to_string().contains("mount -t cgroup2"));
    }
    #[test]
    fn the_usual_one_of_several_places_counts_in_any_order() {
        let lines = ["/container/cg", "/sys/fs/cgroup", "/another"]
            .map(|place| format!("31 25 0:27 / {place} rw - cgroup2 cgroup2 rw\n"));
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1]] {
            let (directory, root) = machine(&order.map(|i| lines[i].clone()).concat());
            assert_eq!(hierarchy(&root).unwrap(), directory.path().join("sys/fs/cgroup"));
        }
    }
}
