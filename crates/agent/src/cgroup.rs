// SPDX-License-Identifier: GPL-2.0-only
//! A cgroup (v2) of its own for every command, so that nothing it starts can hide or survive.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::key_value::number;
use crate::owner::{self, PREFIX};

const KILL_LIMIT: Duration = Duration::from_secs(10);

/// What they are for.
const PURPOSES: [&str; 4] = ["prepare", "rehearsal", "workload", "load"];

pub struct Cgroup {
    path: PathBuf,
}

/// CPU time in seconds of everything that ever ran in a cgroup, from `cpu.stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuTime {
    pub user_s: f64,
    pub system_s: f64,
}

impl Cgroup {
    pub fn create(name: &str) -> Result<Self> {
        let path = hierarchy()?.join(format!("{PREFIX}{}-{name}", std::process::id()));
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self { path }),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                bail!("cannot create the cgroup {}: run as root", path.display())
            }
            Err(error) => {
                Err(error).with_context(|| format!("cannot create the cgroup {}", path.display()))
            }
        }
    }

    /// What the kernel calls it: its inode (fs/kernfs, `kernfs_id_ino`).
    pub fn id(&self) -> Result<u64> {
        let about = fs::metadata(&self.path);
        Ok(about.with_context(|| format!("cannot look at {}", self.path.display()))?.ino())
    }

    pub fn directory(&self) -> io::Result<File> {
        File::open(&self.path)
    }

    /// Opened for a child that moves itself in by writing `0`.
    pub fn procs(&self) -> io::Result<File> {
        File::options().write(true).open(self.path.join("cgroup.procs"))
    }

    pub fn threads(&self) -> Vec<i32> {
        fs::read_to_string(self.path.join("cgroup.threads"))
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.parse().ok())
            .collect()
    }

    pub fn populated(&self) -> bool {
        fs::read_to_string(self.path.join("cgroup.events"))
            .is_ok_and(|events| events.contains("populated 1"))
    }

    pub fn cpu_time(&self) -> Result<CpuTime> {
        let path = self.path.join("cpu.stat");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        parse_cpu_stat(&text)
            .with_context(|| format!("{} lacks user_usec or system_usec", path.display()))
    }

    /// Waits at most `limit` for the cgroup to become empty by itself.
    pub fn drained_within(&self, limit: Duration) -> bool {
        let start = Instant::now();
        while self.populated() {
            if start.elapsed() > limit {
                return false;
            }
            sleep(Duration::from_millis(5));
        }
        true
    }

    pub fn kill(&self) {
        kill(&self.path);
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Ends and removes what agents that were killed have left behind; the paths that are gone.
pub fn sweep() -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(hierarchy()?)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| owner::of(name, &PURPOSES)) else {
            continue;
        };
        if !owner::is_there(owner) {
            remove(&entry.path());
            removed.push(entry.path());
        }
    }
    Ok(removed)
}

fn remove(path: &Path) {
    kill(path);
    let start = Instant::now();
    while fs::remove_dir(path).is_err_and(|error| error.kind() == ErrorKind::ResourceBusy) {
        if start.elapsed() > KILL_LIMIT {
            eprintln!(
                "runoff-agent: {} still holds processes that cannot be killed",
                path.display()
            );
            return;
        }
        sleep(Duration::from_millis(5));
    }
}

fn kill(path: &Path) {
    // A missing file means that the cgroup is gone already.
    let _ = fs::write(path.join("cgroup.kill"), "1");
}

fn hierarchy() -> Result<PathBuf> {
    let mounts =
        fs::read_to_string("/proc/self/mounts").context("cannot read /proc/self/mounts")?;
    match parse_mounts(&mounts) {
        Some(path) => Ok(path),
        None => {
            bail!("no cgroup v2 hierarchy is mounted: run `mount -t cgroup2 none /sys/fs/cgroup`")
        }
    }
}

fn parse_mounts(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, target, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(target))
    })
}

fn parse_cpu_stat(text: &str) -> Option<CpuTime> {
    let seconds = |key| number::<f64>(text, key).map(|us| us / 1e6);
    Some(CpuTime { user_s: seconds("user_usec")?, system_s: seconds("system_usec")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_stat_is_read_in_seconds() {
        let text = "usage_usec 3500000\nuser_usec 2500000\nsystem_usec 1000000\nnr_periods 0\n";
        assert_eq!(parse_cpu_stat(text), Some(CpuTime { user_s: 2.5, system_s: 1.0 }));
        assert_eq!(parse_cpu_stat("usage_usec 1\n"), None);
    }

    #[test]
    fn the_v2_hierarchy_is_found_beside_v1() {
        let mounts =
            "cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\nnone /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(parse_mounts(mounts), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(parse_mounts("proc /proc proc rw 0 0\n"), None);
    }
}
