// SPDX-License-Identifier: GPL-2.0-only
//! Fresh directories for each sample, below the root that the workload sees.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::owner::{self, PREFIX};

/// Where the agent's own program lies inside a root directory that is not the machine's.
pub const PROGRAMS: &str = "/run/runoff";

/// Where they are unless the request says otherwise, and where disks are mounted that are made for a sample.
const PLACES: [&str; 2] = ["/tmp", "/run"];

/// What they are for, and the disk that is mounted for a sample.
const PURPOSES: [&str; 5] = ["work", "work.log", "load", "load.log", "disk"];

pub struct Scratch {
    outside: PathBuf,
    inside: PathBuf,
    logs: PathBuf,
    search_path: String,
}

impl Scratch {
    /// `root` is the directory that becomes `/` for a command, `None` the machine's own; `place`
    /// is a directory as the command names it, `name` tells the sample's scratch directories apart.
    pub fn create(root: Option<&Path>, place: &Path, name: &str) -> Result<Self> {
        let inside = place.join(format!("{PREFIX}{}-{name}", std::process::id()));
        let outside = match root {
            Some(root) => root.join(inside.strip_prefix("/").context("no absolute path")?),
            None => inside.clone(),
        };
        // Beside the working directory, not in it: a program may look at or delete all it finds there.
        let logs = outside.with_extension("log");
        for directory in [&outside, &logs] {
            remove(directory);
            fs::create_dir(directory).with_context(|| {
                format!("cannot create the scratch directory {}", directory.display())
            })?;
        }
        let search_path = search_path(root, &logs)?;
        Ok(Self { outside, inside, logs, search_path })
    }

    /// Makes the working directory as fresh as it was.
    pub fn empty(&self) -> Result<()> {
        remove(&self.outside);
        fs::create_dir(&self.outside).with_context(|| {
            format!("cannot empty the scratch directory {}", self.outside.display())
        })
    }

    /// The working directory as the workload names it.
    pub fn inside(&self) -> &Path {
        &self.inside
    }

    pub fn stdout(&self) -> PathBuf {
        self.logs.join("stdout")
    }

    pub fn stderr(&self) -> PathBuf {
        self.logs.join("stderr")
    }

    pub fn search_path(&self) -> &str {
        &self.search_path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.outside);
        remove(&self.logs);
    }
}

/// Removes what agents that were killed have left behind; the paths that are gone.
pub fn sweep() -> Result<Vec<PathBuf>> {
    let found =
        PLACES.iter().map(|place| sweep_where(Path::new(place), |owner| !owner::is_there(owner)));
    Ok(found.collect::<io::Result<Vec<_>>>()?.concat())
}

/// The same for one of them in another place.
pub fn sweep_of(agent: u32, place: &Path) -> Vec<PathBuf> {
    // Without the place there is nothing in it.
    sweep_where(place, |owner| owner == agent).unwrap_or_default()
}

fn sweep_where(place: &Path, is_gone: impl Fn(u32) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| owner::of(name, &PURPOSES)) else {
            continue;
        };
        // Another user could plant the name; only root's own directories are removed.
        let ours = entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == 0);
        if ours && is_gone(owner) {
            remove(&entry.path());
            removed.push(entry.path());
        }
    }
    Ok(removed)
}

fn remove(directory: &Path) {
    // Missing is what we want; anything else shows when the directory is created.
    let _ = fs::remove_dir_all(directory);
}

/// The agent's own program must be found by its name, but nothing else that lies beside it.
fn search_path(root: Option<&Path>, logs: &Path) -> Result<String> {
    let own = match root {
        Some(_) => PathBuf::from(PROGRAMS),
        None => {
            let programs = logs.join("bin");
            fs::create_dir(&programs)?;
            symlink(std::env::current_exe()?, programs.join("runoff-agent"))?;
            programs
        }
    };
    Ok(format!("{}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", own.display()))
}
