// SPDX-License-Identifier: GPL-2.0-only
//! Control groups that should get more or less CPU than others. Only a scheduler that knows groups
//! does that.

mod found;
mod limits;
mod watch;
mod watched;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cgroup::hierarchy;
use crate::root::Root;
use limits::{is_directory, read};

pub use found::Found;
pub use watch::Watch;

/// The groups with a limit, by their paths from the topmost, sorted.
///
/// # Errors
/// No cgroup v2 hierarchy is mounted.
pub fn groups(root: &Root) -> Result<Vec<PathBuf>> {
    let top = hierarchy(root)?;
    let (mut found, mut next) = (Vec::new(), vec![top.clone()]);
    while let Some(group) = next.pop() {
        if read(&group).is_some() {
            found.push(Path::new("/").join(group.strip_prefix(&top)?));
        }
        // A group that goes meanwhile has no limit any more.
        let entries = fs::read_dir(&group).into_iter().flatten().flatten();
        next.extend(entries.filter(is_directory).map(|entry| entry.path()));
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_with_a_quota_or_a_weight_of_their_own_are_found_however_deep() {
        let directory = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/self/mountinfo", "31 25 0:27 / /cg rw,relatime - cgroup2 cgroup2 rw\n");
        let root = Root::below(directory.path());
        write("cg/cgroup.procs", "1\n");
        assert_eq!(groups(&root).unwrap(), Vec::<PathBuf>::new());
        write("cg/user.slice/cpu.max", "max 100000\n");
        write("cg/user.slice/cpu.weight", "100\n");
        write("cg/system.slice/b.service/cpu.max", "20000 100000\n");
        write("cg/system.slice/a.service/cpu.weight", "50\n");
        let found = groups(&root).unwrap();
        let expected = ["/system.slice/a.service", "/system.slice/b.service"];
        assert_eq!(found, expected.map(PathBuf::from));
        write("cg/cpu.max", "1000 100000\n");
        assert_eq!(groups(&root).unwrap()[0], Path::new("/"));
    }

    #[test]
    fn without_a_hierarchy_no_groups_are_found() {
        let directory = tempfile::tempdir().unwrap();
        assert!(groups(&Root::below(directory.path())).is_err());
    }
}
