// SPDX-License-Identifier: GPL-2.0-only
//! Proof that the kernel's queue of a disk stayed as it was while a sample ran.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub struct InCharge {
    queue: PathBuf,
    before: Seen,
}

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    elevator: String,
    /// Which directory the tunables are in: every elevator that is put in charge has a new one.
    directory: Option<u64>,
    tunables: BTreeMap<String, String>,
}

impl InCharge {
    /// Of the block device at `device`, as it is now.
    pub fn now(device: &Path) -> io::Result<Self> {
        let name = device.file_name().unwrap_or_default();
        let queue = Path::new("/sys/block").join(name).join("queue");
        let before = Seen::now(&queue)?;
        Ok(Self { queue, before })
    }

    /// What has changed since, in a sentence.
    pub fn objection(&self) -> Option<String> {
        let before = &self.before;
        let after = match Seen::now(&self.queue) {
            Ok(after) => after,
            Err(error) => {
                return Some(format!("the disk's elevator cannot be seen any more: {error}"));
            }
        };
        if after.elevator != before.elevator {
            return Some(format!(
                "the disk's elevator was changed from {} to {} while the sample ran",
                before.elevator, after.elevator
            ));
        }
        if after.directory != before.directory {
            return Some(format!(
                "the disk's elevator {} was put in charge anew while the sample ran",
                after.elevator
            ));
        }
        let mut tunables = before.tunables.iter();
        let (name, old) = tunables.find(|(name, old)| after.tunables.get(*name) != Some(*old))?;
        let new = after.tunables.get(name).map_or("nothing", String::as_str);
        Some(format!(
            "{name} of the disk's elevator {} was changed from {old} to {new} while the sample ran",
            after.elevator
        ))
    }
}

impl Seen {
    fn now(queue: &Path) -> io::Result<Self> {
        let offered = fs::read_to_string(queue.join("scheduler"))?;
        let directory = queue.join("iosched");
        let mut tunables = BTreeMap::new();
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let value = fs::read_to_string(entry.path())?;
            tunables
                .insert(entry.file_name().to_string_lossy().into_owned(), value.trim_end().into());
        }
        let inode = fs::metadata(&directory).ok().map(|data| data.ino());
        Ok(Self { elevator: chosen(&offered).into(), directory: inode, tunables })
    }
}

/// The one in brackets, or the only one.
fn chosen(offered: &str) -> &str {
    let bracketed = offered.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(offered.trim(), |(chosen, _)| chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elevator_is_in_brackets_unless_it_is_the_only_one() {
        assert_eq!(chosen("none [mq-deadline] kyber\n"), "mq-deadline");
        assert_eq!(chosen("none\n"), "none");
    }
}
