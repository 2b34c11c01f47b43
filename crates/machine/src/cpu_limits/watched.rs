// SPDX-License-Identifier: GPL-2.0-only
//! The groups that are watched, and what is to be done when something happens to one.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::iter;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

use super::found::Found;
use super::limits::{FILES, is_directory, read};
use crate::cgroup::{Purpose, hierarchy};
use crate::owner::Agent;
use crate::root::Root;
use crate::strays::descends_from_us;

/// Groups that are watched.
pub const MOST: usize = 4096;

/// Members of a group, and of all in it, that are looked at.
const MOST_MEMBERS: usize = 1000;

/// Files whose change may bring work under a limit: by the limit, by a process that is moved, or by
/// one that is started inside.
const MOVES: [&str; 3] = ["cgroup.procs", "cgroup.threads", "cgroup.events"];
const CONTROLLERS: &str = "cgroup.subtree_control";

/// Longer than the kernel holds back an event of cgroup.events that follows another one
/// (`CGROUP_FILE_NOTIFY_MIN_INTV`, 10 ms).
const LATE_EVENTS: Duration = Duration::from_millis(30);

const WHOLE: WatchFlags = WatchFlags::CREATE.union(WatchFlags::MODIFY).union(WatchFlags::ONLYDIR);
/// A process that enters a group of this agent, as all work does at its start, makes no event.
const OWN: WatchFlags = WatchFlags::CREATE.union(WatchFlags::ONLYDIR);

/// The groups of a hierarchy.
#[derive(Debug)]
pub struct Groups {
    top: PathBuf,
    inotify: OwnedFd,
    /// The group of each watch.
    watched: HashMap<i32, PathBuf>,
    /// Groups that this agent has made for work.
    own: BTreeSet<PathBuf>,
    is_all_ours: bool,
    /// Whether there are limits of groups without work.
    has_left: bool,
    found: Found,
}

impl AsFd for Groups {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

impl Groups {
    /// Watches all groups that there are, and finds the limits that work has already.
    ///
    /// # Errors
    /// The same as for [`super::Watch::start`].
    pub fn open(root: &Root, is_all_ours: bool) -> Result<Self> {
        Self::open_after(root, is_all_ours, || sleep(LATE_EVENTS))
    }

    /// Opens them after events that tell of earlier work have come, while `wait` goes on; only where
    /// every event counts.
    fn open_after(root: &Root, is_all_ours: bool, wait: impl FnOnce()) -> Result<Self> {
        let mut groups = Self::watch_all(root)?;
        if is_all_ours && groups.has_left {
            wait();
            groups = Self::watch_all(root)?;
        }
        groups.is_all_ours = is_all_ours;
        Ok(groups)
    }

    fn watch_all(root: &Root) -> Result<Self> {
        let top = hierarchy(root)?;
        let inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)
            .context("cannot watch control groups")?;
        let mut groups = Self {
            top: top.clone(),
            inotify,
            watched: HashMap::new(),
            own: BTreeSet::new(),
            // What is left of earlier work limits nothing that is not in it.
            is_all_ours: false,
            has_left: false,
            found: Found::default(),
        };
        groups.add(top);
        Ok(groups)
    }

    pub fn miss(&mut self, why: impl FnOnce() -> String) {
        self.found.miss(why);
    }

    /// What was found, and what there is to find in groups of this agent now.
    pub fn end(mut self) -> Found {
        std::mem::take(&mut self.own).iter().for_each(|group| self.judge(group));
        self.found
    }

    /// Watches `group` and all groups in it, those of this agent first.
    fn add(&mut self, group: PathBuf) {
        let mut next = VecDeque::from([group]);
        while let Some(group) = next.pop_front() {
            // First watched and then read: what comes between is seen twice.
            if !self.watch(&group) {
                return;
            }
            self.judge(&group);
            let entries = fs::read_dir(&group).into_iter().flatten().flatten();
            for inner in entries.filter(is_directory).map(|entry| entry.path()) {
                if self.is_own(&inner) { next.push_front(inner) } else { next.push_back(inner) }
            }
        }
    }

    /// Watches `group`; false if there is no room for another.
    fn watch(&mut self, group: &Path) -> bool {
        if self.watched.len() >= MOST {
            self.miss(|| format!("there were more than {MOST}"));
            return false;
        }
        if !self.is_own(group) {
            return self.watch_path(group, group, WHOLE);
        }
        self.own.insert(group.to_owned());
        let limits = FILES.map(|(file, _)| group.join(file));
        limits.iter().all(|file| self.watch_path(group, file, WatchFlags::MODIFY))
            && self.watch_path(group, group, OWN)
    }

    fn watch_path(&mut self, group: &Path, path: &Path, what: WatchFlags) -> bool {
        match add_watch(&self.inotify, path, what) {
            Ok(watch) => {
                self.watched.insert(watch, group.to_owned());
            }
            // It is gone, or has no such file: a controller may be off.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NODEV) => {}
            Err(error) => {
                self.miss(|| format!("they could not all be watched: {error}"));
                return false;
            }
        }
        true
    }

    /// Looks at all that has happened.
    pub fn take_events(&mut self) {
        let mut space = [MaybeUninit::uninit(); 4096];
        loop {
            let mut events = Vec::new();
            let mut reader = Reader::new(&self.inotify, &mut space);
            while let Ok(event) = reader.next() {
                let name = event.file_name().map(|name| name.to_bytes().to_vec());
                events.push((event.wd(), event.events(), name.unwrap_or_default()));
                if reader.is_buffer_empty() {
                    break;
                }
            }
            if events.is_empty() {
                return;
            }
            for (watch, what, name) in events {
                self.take_event(watch, what, OsStr::from_bytes(&name));
            }
        }
    }

    fn take_event(&mut self, watch: i32, what: ReadFlags, name: &OsStr) {
        if what.contains(ReadFlags::QUEUE_OVERFLOW) {
            self.miss(|| "more happened to them than could be followed".to_owned());
        }
        if what.contains(ReadFlags::IGNORED) {
            self.watched.remove(&watch);
            return;
        }
        let Some(group) = self.watched.get(&watch).cloned() else { return };
        if what.contains(ReadFlags::CREATE | ReadFlags::ISDIR) {
            self.add(group.join(name));
        } else if name == CONTROLLERS {
            // Files of limits come and go with their controller.
            for group in self.own.clone() {
                self.watch(&group);
            }
        } else if name.is_empty() || is_limit(name) || MOVES.iter().any(|file| name == *file) {
            self.judge(&group);
        }
    }

    /// Notes the limits of `group` and of those above it, if work is in it.
    fn judge(&mut self, group: &Path) {
        let lineage = group.ancestors().take_while(|path| path.starts_with(&self.top));
        let limited: Vec<_> = lineage.filter_map(|path| Some((path, read(path)?))).collect();
        if limited.is_empty() {
            return;
        }
        if !self.has_work(group) {
            self.has_left = true;
            // The kernel then tells when a process is started inside.
            self.watch_path(group, &group.join("cgroup.events"), WatchFlags::MODIFY);
            return;
        }
        for (path, limits) in limited {
            let name = self.name(path);
            self.found.note(&name, &limits);
        }
    }

    fn has_work(&self, group: &Path) -> bool {
        let first = group.strip_prefix(&self.top).ok().and_then(|path| path.iter().next());
        match first {
            None => true,
            Some(first) if is_name_of_work(first) => true,
            Some(_) => self.is_all_ours || members(group).into_iter().any(descends_from_us),
        }
    }

    /// Whether `group` is one that this agent has made for work.
    fn is_own(&self, group: &Path) -> bool {
        group.parent() == Some(&self.top) && group.file_name().is_some_and(is_name_of_work)
    }

    /// The path of `group` from the topmost; below a group of this agent, which has another name in
    /// each sample, from there.
    fn name(&self, group: &Path) -> String {
        let path = group.strip_prefix(&self.top).unwrap_or(group);
        let mut parts = path.iter();
        let own = parts.next().and_then(purpose_of_work);
        match own {
            Some(purpose) => {
                let below: PathBuf = iter::once(OsStr::new(purpose)).chain(parts).collect();
                below.display().to_string()
            }
            None => Path::new("/").join(path).display().to_string(),
        }
    }
}

fn is_limit(name: &OsStr) -> bool {
    // Also cpu.weight.nice, which is another scale of cpu.weight.
    name == "cpu.weight.nice" || FILES.iter().any(|(file, _)| name == *file)
}

fn is_name_of_work(name: &OsStr) -> bool {
    purpose_of_work(name).is_some()
}

/// The word for the purpose of a group that this agent has made for work; None for any other group.
fn purpose_of_work(name: &OsStr) -> Option<&'static str> {
    let name = name.to_str()?;
    let words = [Purpose::Workload.word(), Purpose::Load.word()];
    words.into_iter().find(|word| Agent::of(name, &[word]) == Some(Agent::this()))
}

/// Threads in `group` and in all groups in it.
fn members(group: &Path) -> Vec<i32> {
    let (mut found, mut next) = (Vec::new(), vec![group.to_owned()]);
    while let Some(group) = next.pop()
        && found.len() < MOST_MEMBERS
    {
        let text = fs::read_to_string(group.join("cgroup.threads")).unwrap_or_default();
        found.extend(text.lines().filter_map(|line| line.parse::<i32>().ok()));
        let entries = fs::read_dir(&group).into_iter().flatten().flatten();
        next.extend(entries.filter(is_directory).map(|entry| entry.path()));
    }
    found.truncate(MOST_MEMBERS);
    found
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Directories and files where a kernel would have a limited group that work has left.
    fn with_a_group_left() -> TempDir {
        let directory = TempDir::new().unwrap();
        let mounts = directory.path().join("proc/self");
        fs::create_dir_all(&mounts).unwrap();
        let line = "31 25 0:27 / /cg rw,relatime - cgroup2 cgroup2 rw\n";
        fs::write(mounts.join("mountinfo"), line).unwrap();
        let left = directory.path().join("cg/left");
        fs::create_dir_all(&left).unwrap();
        fs::write(left.join("cpu.max"), "20000 100000\n").unwrap();
        fs::write(left.join("cgroup.threads"), "").unwrap();
        end_of_earlier_work(&directory);
        directory
    }

    fn end_of_earlier_work(directory: &TempDir) {
        fs::write(directory.path().join("cg/left/cgroup.events"), "populated 0\n").unwrap();
    }

    #[test]
    fn the_end_of_earlier_work_that_is_told_late_does_not_count() {
        let directory = with_a_group_left();
        let root = Root::below(directory.path());
        let mut groups =
            Groups::open_after(&root, true, || end_of_earlier_work(&directory)).unwrap();
        groups.take_events();
        assert_eq!(groups.end(), Found::default());
        // Without the wait it would: the event is one of those that count.
        let mut groups = Groups::open_after(&root, true, || ()).unwrap();
        end_of_earlier_work(&directory);
        groups.take_events();
        assert_eq!(groups.end().limits(), ["/left: cpu.max 20000 100000"]);
    }

    #[test]
    fn nobody_waits_beside_groups_of_others() {
        let directory = with_a_group_left();
        let root = Root::below(directory.path());
        let mut has_waited = false;
        Groups::open_after(&root, false, || has_waited = true).unwrap();
        assert!(!has_waited);
    }
}
