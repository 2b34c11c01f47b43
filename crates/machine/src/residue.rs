// SPDX-License-Identifier: GPL-2.0-only
//! Objects of the kernel that work can make and that stay when all its processes have ended.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::mounts::Mounts;
use crate::root::Root;

/// All such objects at one moment, each as text for a message, with the command that removes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Residue(BTreeSet<String>);

/// Directories whose files are objects of the kernel, or outlive the processes that made them.
const PLACES: [&str; 3] = ["/dev/shm", "/dev/mqueue", "/run/netns"];

/// Objects of System V: the table, the word for an object, and the option of ipcrm(1).
const IPC: [(&str, &str, &str); 3] =
    [("shm", "shared memory", "-m"), ("sem", "semaphores", "-s"), ("msg", "a message queue", "-q")];

impl Residue {
    /// Lists the objects. A list that cannot be read counts as empty.
    pub fn now(root: &Root) -> Self {
        let mut found = BTreeSet::new();
        found.extend(loop_devices(root));
        for (table, noun, option) in IPC {
            let text = fs::read_to_string(root.at(format!("/proc/sysvipc/{table}")));
            // The second column is the object's number; the first line has titles.
            let rows = text.unwrap_or_default();
            let numbers = rows.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1));
            found
                .extend(numbers.map(|number| format!("{noun} {number} (ipcrm {option} {number})")));
        }
        for place in PLACES {
            let names = fs::read_dir(root.at(place)).into_iter().flatten().flatten();
            found.extend(names.map(|entry| entry.path().display().to_string()));
        }
        // Mounts of the machine, and of this process, whose namespace work can enter as root.
        for mountinfo in ["/proc/1/mountinfo", "/proc/thread-self/mountinfo"] {
            let mounts = Mounts::listed_in(&root.at(mountinfo)).ok();
            let places = mounts.into_iter().flat_map(|mounts| mounts.places());
            found.extend(places.map(|it| format!("a mount (umount {})", it.display())));
        }
        Self(found)
    }

    /// The objects that were not there `before`.
    pub fn since(&self, before: &Self) -> Vec<String> {
        self.0.difference(&before.0).cloned().collect()
    }
}

fn loop_devices(root: &Root) -> Vec<String> {
    let blocks = fs::read_dir(root.at("/sys/block")).into_iter().flatten().flatten();
    let in_use = |directory: PathBuf| -> Option<String> {
        let file = fs::read_to_string(directory.join("loop/backing_file")).ok()?;
        let name = directory.file_name()?.to_str()?.to_owned();
        Some(format!("the loop device of {} (losetup -d /dev/{name})", file.trim_end()))
    };
    blocks.filter_map(|entry| in_use(entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn each_kind_is_found_and_reported_with_the_command_that_removes_it() {
        let place = tempfile::tempdir().unwrap();
        let root = Root::below(place.path());
        let line = "36 35 0:5 / /old rw - tmpfs none rw\n";
        write(place.path(), "proc/1/mountinfo", line);
        write(place.path(), "proc/sysvipc/shm", "key shmid perms\n 0 7 600\n");
        write(place.path(), "dev/shm/old", "");
        let before = Residue::now(&root);
        assert_eq!(before.since(&before), Vec::<String>::new());
        write(
            place.path(),
            "proc/1/mountinfo",
            &format!("{line}37 35 0:6 / /a\\040b rw - tmpfs none rw\n"),
        );
        write(place.path(), "proc/sysvipc/shm", "key shmid perms\n 0 7 600\n 0 8 600\n");
        write(place.path(), "proc/sysvipc/sem", "key semid perms\n 0 3 600\n");
        write(place.path(), "proc/sysvipc/msg", "key msqid perms\n 0 4 600\n");
        write(place.path(), "dev/shm/new", "");
        write(place.path(), "run/netns/blue", "");
        write(place.path(), "sys/block/loop3/loop/backing_file", "/tmp/x (deleted)\n");
        fs::create_dir_all(place.path().join("sys/block/loop4/loop")).unwrap();
        let shown = |name: &str| place.path().join(name).display().to_string();
        let expected = BTreeSet::from([
            "a mount (umount /a b)".to_owned(),
            "shared memory 8 (ipcrm -m 8)".into(),
            "semaphores 3 (ipcrm -s 3)".into(),
            "a message queue 4 (ipcrm -q 4)".into(),
            shown("dev/shm/new"),
            shown("run/netns/blue"),
            "the loop device of /tmp/x (deleted) (losetup -d /dev/loop3)".into(),
        ]);
        assert_eq!(BTreeSet::from_iter(Residue::now(&root).since(&before)), expected);
    }
}
