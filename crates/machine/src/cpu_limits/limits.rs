// SPDX-License-Identifier: GPL-2.0-only
//! The limits of one group, as its files have them.

use std::fs;
use std::path::Path;

/// The files that limit a group, each with what it has where it does not: `cpu.max` has that as its
/// first word (Documentation/admin-guide/cgroup-v2.rst).
pub const FILES: [(&str, &str); 3] = [("cpu.max", "max"), ("cpu.weight", "100"), ("cpu.idle", "0")];

pub fn is_directory(entry: &fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// The limits of `group` in one line, such as `cpu.max 20000 100000, cpu.weight 50`; None without any.
pub fn read(group: &Path) -> Option<String> {
    let limit = |(file, usual)| {
        let text = fs::read_to_string(group.join(file)).ok()?;
        let text = text.trim();
        (text.split_whitespace().next()? != usual).then(|| format!("{file} {text}"))
    };
    let [quota, weight, idle] = FILES.map(limit);
    // The weight of an idle group is not one that was given to it.
    let weight = weight.filter(|_| idle.is_none());
    let limits: Vec<_> = [quota, weight, idle].into_iter().flatten().collect();
    (!limits.is_empty()).then(|| limits.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_named_and_what_limits_nothing_is_not() {
        let group = tempfile::tempdir().unwrap();
        let limits = |file: &str, text: &str| {
            fs::write(group.path().join(file), text).unwrap();
            read(group.path())
        };
        assert_eq!(limits("cpu.max", "max 100000\n"), None);
        assert_eq!(limits("cpu.weight", "100\n"), None);
        assert_eq!(limits("cpu.idle", "0\n"), None);
        assert_eq!(limits("cpu.weight", "1000\n").unwrap(), "cpu.weight 1000");
        assert_eq!(
            limits("cpu.max", "20000 100000\n").unwrap(),
            "cpu.max 20000 100000, cpu.weight 1000"
        );
        limits("cpu.weight", "1\n");
        assert_eq!(limits("cpu.idle", "1\n").unwrap(), "cpu.max 20000 100000, cpu.idle 1");
    }
}
