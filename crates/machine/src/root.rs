// SPDX-License-Identifier: GPL-2.0-only
//! Where the kernel's files are: the machine's own, or a tree that stands in for them.

use std::path::{Path, PathBuf};

/// The directory that has /proc, /sys, /run and /tmp. Every reader of these takes one, so that a
/// directory can stand in for a recorded or hostile machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Root(Option<PathBuf>);

impl Root {
    /// This machine.
    pub fn machine() -> Self {
        Self(None)
    }

    /// A directory with the same layout.
    pub fn below(directory: impl Into<PathBuf>) -> Self {
        Self(Some(directory.into()))
    }

    /// The place of the absolute `path` below this root.
    pub fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        match &self.0 {
            None => path.into(),
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_path_stays_below_the_root() {
        assert_eq!(Root::machine().at("/proc/stat"), Path::new("/proc/stat"));
        assert_eq!(Root::below("/a/b").at("/proc/stat"), Path::new("/a/b/proc/stat"));
    }
}
