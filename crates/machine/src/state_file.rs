// SPDX-License-Identifier: GPL-2.0-only
//! Files in which processes of root leave notes for later ones: JSON, each written as a whole.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::libc;
use nix::unistd::geteuid;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::stop::Stop;

const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Prefix of a file that is still being written.
const PART: &str = "part-";
const SUFFIX: &str = ".json";

/// Longest wait for a lock, which is held only to read and write some files.
const LOCK_LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(2);

/// A directory of such files, locked: no other process writes or removes one meanwhile.
pub struct StateFiles {
    directory: PathBuf,
    _lock: Flock<File>,
}

impl StateFiles {
    /// Makes the directory if it is not there, and locks it, for which it waits at most 10 s.
    ///
    /// # Errors
    /// It is a link or another user's, others can write there, or another process holds it that
    /// long.
    pub fn lock(directory: &Path) -> io::Result<Self> {
        Self::lock_unless(None, directory)
    }

    /// As `lock`, but does not wait when a stop is requested.
    ///
    /// # Errors
    /// The same as for `lock`.
    pub fn lock_unless(stop: Option<&Stop>, directory: &Path) -> io::Result<Self> {
        Self::lock_within(LOCK_LIMIT, stop, directory)
    }

    fn lock_within(limit: Duration, stop: Option<&Stop>, directory: &Path) -> io::Result<Self> {
        match DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let opened = File::options().read(true).custom_flags(flags).open(directory)?;
        let about = opened.metadata()?;
        if about.uid() != geteuid().as_raw() || about.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(io::Error::other("others than root can write there"));
        }
        // Any process that can open it can hold the lock.
        opened.set_permissions(Permissions::from_mode(0o700))?;
        let lock = locked(opened, limit, stop, directory)?;
        let held = Self { directory: directory.into(), _lock: lock };
        // No other process is writing now, so these files are left from processes that were killed.
        held.entries(|name| name.starts_with(PART)).for_each(|name| held.remove(&name));
        Ok(held)
    }

    /// Writes a file as a whole: if this process ends in the middle, the file stays as it was.
    pub fn write(&self, name: &str, content: &impl Serialize) -> io::Result<()> {
        let mut part = tempfile::Builder::new().prefix(PART).tempfile_in(&self.directory)?;
        part.write_all(&serde_json::to_vec(content)?)?;
        part.persist(self.directory.join(file(name)))?;
        Ok(())
    }

    pub fn remove(&self, file: &str) {
        // A file that is missing is fine; one that cannot be removed is found again the next time.
        let _ = fs::remove_file(self.directory.join(file));
    }

    /// The names of all files, for `remove` and `read`.
    pub fn files(&self) -> impl Iterator<Item = String> {
        self.entries(|name| name.ends_with(SUFFIX))
    }

    /// Reads one of `files`.
    pub fn read<T: DeserializeOwned>(&self, file: &str) -> io::Result<T> {
        read(&self.directory.join(file))
    }

    fn entries(&self, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(move |name| is_wanted(name))
    }
}

fn locked(
    opened: File,
    limit: Duration,
    stop: Option<&Stop>,
    directory: &Path,
) -> io::Result<Flock<File>> {
    let start = Instant::now();
    let mut opened = opened;
    loop {
        opened = match Flock::lock(opened, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((opened, Errno::EWOULDBLOCK | Errno::EINTR)) => opened,
            Err((_, error)) => return Err(error.into()),
        };
        if stop.is_some_and(Stop::requested) {
            return Err(io::Error::other("it was stopped on request"));
        }
        if start.elapsed() > limit {
            let (place, seconds) = (directory.display(), limit.as_secs_f64());
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("somebody has held {place} for {seconds} s: `fuser -v {place}` says who"),
            ));
        }
        sleep(LOOK);
    }
}

/// The name of the file that `write` makes.
pub fn file(name: &str) -> String {
    format!("{name}{SUFFIX}")
}

/// Reads a whole file without the lock; no link is followed.
pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let opened = File::options().read(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
    Ok(serde_json::from_reader(io::BufReader::new(opened))?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::thread;

    use nix::sys::signal::{Signal, raise};

    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        (folder, path)
    }

    #[test]
    fn a_file_is_read_until_it_is_removed() {
        let (_folder, path) = folder();
        let held = StateFiles::lock(&path).unwrap();
        held.write("a", &1).unwrap();
        held.write("a", &2).unwrap();
        assert_eq!(held.files().collect::<Vec<_>>(), ["a.json"]);
        assert_eq!(
            (held.read::<u8>("a.json").unwrap(), read::<u8>(&path.join(file("a"))).unwrap()),
            (2, 2)
        );
        held.remove("a.json");
        assert_eq!(held.files().count(), 0);
    }

    #[test]
    fn a_directory_that_is_not_ours_alone_is_refused() {
        let (folder, path) = folder();
        fs::create_dir(&path).unwrap();
        for mode in [0o777, 0o770, 0o702, 0o1777] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert!(StateFiles::lock(&path).is_err(), "{mode:o}");
        }
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        drop(StateFiles::lock(&path).unwrap());
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o700);
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(StateFiles::lock(&link).is_err());
    }

    #[test]
    fn a_link_in_place_of_a_file_is_neither_written_through_nor_read() {
        let (folder, path) = folder();
        let held = StateFiles::lock(&path).unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "7").unwrap();
        symlink(&precious, path.join("a.json")).unwrap();
        assert!(held.read::<u8>("a.json").is_err());
        held.write("a", &1).unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"7");
        assert_eq!(held.read::<u8>("a.json").unwrap(), 1);
    }

    #[test]
    fn unfinished_files_are_removed_and_not_read() {
        let (_folder, path) = folder();
        drop(StateFiles::lock(&path).unwrap());
        fs::write(path.join("part-x7"), "{").unwrap();
        assert_eq!(StateFiles::lock(&path).unwrap().files().count(), 0);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn the_wait_for_a_lock_has_a_limit() {
        let (_folder, path) = folder();
        let held = StateFiles::lock(&path).unwrap();
        let error = StateFiles::lock_within(Duration::from_millis(20), None, &path).err().unwrap();
        let place = path.display();
        assert_eq!(
            error.to_string(),
            format!("somebody has held {place} for 0.02 s: `fuser -v {place}` says who")
        );
        let stop = Stop::new().unwrap();
        raise(Signal::SIGTERM).unwrap();
        let start = Instant::now();
        let error = StateFiles::lock_unless(Some(&stop), &path).err().unwrap();
        assert_eq!(error.to_string(), "it was stopped on request");
        assert!(start.elapsed() < LOCK_LIMIT);
        drop(held);
        StateFiles::lock_within(Duration::ZERO, None, &path).unwrap();
    }

    #[test]
    fn one_process_at_a_time_holds_the_lock() {
        let (_folder, path) = folder();
        let add = || {
            for _ in 0..50 {
                let held = StateFiles::lock(&path).unwrap();
                let number = held.read::<u32>("n.json").unwrap_or(0);
                held.write("n", &(number + 1)).unwrap();
            }
        };
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(add))));
        assert_eq!(read::<u32>(&path.join("n.json")).unwrap(), 200);
    }
}
