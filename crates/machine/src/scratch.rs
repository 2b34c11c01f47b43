// SPDX-License-Identifier: GPL-2.0-only
//! Fresh directories for each sample, below the root that the workload sees.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use protocol::OwnFile;
use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::own_files;
use crate::owner::Agent;
use crate::removal::{DIRECTORY, remove};
use crate::root::Root;

/// Where the agent's own program lies inside a root directory that is not the machine's.
pub const PROGRAMS: &str = "/run/runoff";

/// Default places of scratch directories, and of the mounts of disks that are made for a sample.
const PLACES: [&str; 2] = ["/tmp", "/run"];

/// Purposes in the names of scratch directories and of the mount of a sample's disk.
const PURPOSES: [&str; 5] = ["work", "work.log", "load", "load.log", "disk"];

/// Most bytes that a command may print; more does not fit.
const OUTPUT_ROOM: u64 = 64 << 20;

/// How much of a program's output is read back.
const OUTPUT_LIMIT: u64 = 64 * 1024;

/// A program whose output is kept in files of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    Command,
    /// The server of the command.
    Server,
}

impl Speaker {
    fn file(self, stream: &str) -> String {
        match self {
            Self::Command => stream.to_owned(),
            Self::Server => format!("server.{stream}"),
        }
    }
}

/// A working directory, and beside it another one for the output.
#[derive(Debug)]
pub struct Scratch {
    outside: PathBuf,
    inside: PathBuf,
    logs: PathBuf,
    /// The working directory, held open in case it is moved.
    held: OwnedFd,
    search_path: String,
    has_ended: bool,
}

impl Scratch {
    /// `root` is the directory that becomes `/` for a command, `None` the machine's own; `place`
    /// is a directory as the command names it, `name` tells the sample's scratch directories apart.
    ///
    /// # Errors
    /// There is no such place, or it is full.
    pub fn create(root: Option<&Path>, place: &Path, name: &str) -> Result<Self> {
        let agent = Agent::this();
        let within = |place: &Path| match root {
            Some(root) => Ok(root.join(place.strip_prefix("/").context("no absolute path")?)),
            None => Ok::<_, anyhow::Error>(place.into()),
        };
        let inside = place.join(agent.name(name));
        // Beside the working directory, not in it: a program may look at or delete all it finds there.
        let logs = within(&place.join(agent.name(&format!("{name}.log"))))?;
        let outside = within(&inside)?;
        make(&outside)?;
        let held = openat(CWD, &outside, OFlags::PATH | DIRECTORY, Mode::empty())?;
        let mut scratch =
            Self { outside, inside, logs, held, search_path: String::new(), has_ended: false };
        make(&scratch.logs)?;
        make_room(&scratch.logs)?;
        scratch.search_path = search_path(root, &scratch.logs)?;
        Ok(scratch)
    }

    /// Copies files of the user's into the working directory.
    ///
    /// # Errors
    /// One cannot be copied, or is not the one of its digest.
    pub fn bring(&self, files: &[OwnFile]) -> Result<()> {
        own_files::copy_into(&self.outside, files)
    }

    /// Makes the working directory as fresh as it was.
    ///
    /// # Errors
    /// Something in it stays.
    pub fn empty(&self) -> Result<()> {
        remove(&self.outside).with_context(|| {
            format!("cannot empty the scratch directory {}", self.outside.display())
        })?;
        make(&self.outside)
    }

    /// The working directory as the workload names it.
    pub fn inside(&self) -> &Path {
        &self.inside
    }

    pub fn stdout(&self, speaker: Speaker) -> PathBuf {
        self.logs.join(speaker.file("stdout"))
    }

    pub fn stderr(&self, speaker: Speaker) -> PathBuf {
        self.logs.join(speaker.file("stderr"))
    }

    pub fn search_path(&self) -> &str {
        &self.search_path
    }

    /// Whether a program has printed more than there is room for.
    pub fn is_full(&self) -> bool {
        rustix::fs::statfs(&self.logs).is_ok_and(|about| about.f_bavail == 0)
    }

    /// Removes both directories.
    ///
    /// # Errors
    /// Something in them stays.
    pub fn end(mut self) -> Result<()> {
        self.has_ended = true;
        self.clear()
    }

    fn clear(&self) -> Result<()> {
        let _not_mounted = umount2(&self.logs, MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW);
        let ended: Vec<_> = [&self.outside, &self.logs].map(|directory| clear(directory)).into();
        self.require_not_moved()?;
        ended.into_iter().collect()
    }

    /// Requires that the directory was not moved away: a later agent would not find it by its name.
    fn require_not_moved(&self) -> Result<()> {
        let held = rustix::fs::fstat(&self.held)?;
        let is_in_place =
            self.outside.symlink_metadata().is_ok_and(|about| about.ino() == held.st_ino);
        let has_moved = held.st_nlink > 0 && !is_in_place;
        let link = format!("/proc/self/fd/{}", self.held.as_fd().as_raw_fd());
        match fs::read_link(link) {
            Ok(place) if has_moved => {
                bail!("the workload moved its directory to {}, where it stays", place.display())
            }
            _ => Ok(()),
        }
    }
}

/// Removes a directory of a sample, or what is in its place.
fn clear(directory: &Path) -> Result<()> {
    let is_another = directory.symlink_metadata().is_ok_and(|about| !about.is_dir());
    remove(directory).with_context(|| format!("cannot remove {}", directory.display()))?;
    ensure!(
        !is_another,
        "{} was replaced by something that is not a directory, which was removed",
        directory.display()
    );
    Ok(())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.has_ended
            && let Err(error) = self.clear()
        {
            eprintln!("runoff-agent: {error:#}");
        }
    }
}

/// The last part of a file as text; empty if there is none.
pub fn tail(path: &Path) -> String {
    String::from_utf8_lossy(&read_end(path, OUTPUT_LIMIT).0).into_owned()
}

/// The last bytes of a file, and whether there are more before them; empty if it cannot be read.
pub fn read_end(path: &Path, limit_bytes: u64) -> (Vec<u8>, bool) {
    let read = || -> io::Result<(Vec<u8>, bool)> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(limit_bytes)))?;
        let mut bytes = Vec::new();
        file.take(limit_bytes).read_to_end(&mut bytes)?;
        Ok((bytes, length > limit_bytes))
    };
    read().unwrap_or_default()
}

/// The directories that dead agents have left in the default places.
///
/// # Errors
/// A place cannot be read.
pub fn left_behind(root: &Root) -> Result<Vec<PathBuf>> {
    let found = PLACES.iter().map(|place| {
        let place = root.at(place);
        left_in(&place, |agent| !agent.is_there())
            .with_context(|| format!("cannot look into {}", place.display()))
    });
    Ok(found.collect::<Result<Vec<_>>>()?.concat())
}

/// The directories of one agent in another place.
pub fn left_by(agent: Agent, place: &Path) -> Vec<PathBuf> {
    // A place that does not exist has nothing in it.
    left_in(place, |other| other == agent).unwrap_or_default()
}

fn left_in(place: &Path, is_gone: impl Fn(Agent) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(agent) = name.to_str().and_then(|name| Agent::of(name, &PURPOSES)) else {
            continue;
        };
        // Another user could plant the name, so only root's own files are removed. Work may have
        // put a link in place of the directory.
        let ours = entry.metadata().is_ok_and(|data| data.uid() == 0);
        if ours && is_gone(agent) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Makes a new directory, independent of the caller's umask; a link in its place is refused.
fn make(directory: &Path) -> Result<()> {
    let made = DirBuilder::new().mode(0o755).create(directory);
    made.with_context(|| format!("cannot create the scratch directory {}", directory.display()))
}

/// Limits the room for output by a file system of its own. A process that may not mount has the
/// room of the place.
fn make_room(logs: &Path) -> Result<()> {
    let room = format!("size={OUTPUT_ROOM},mode=0755");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    match mount(Some("runoff"), logs, Some("tmpfs"), flags, Some(room.as_str())) {
        Ok(()) | Err(Errno::EPERM) => Ok(()),
        Err(error) => {
            Err(error).with_context(|| format!("cannot make room for output in {}", logs.display()))
        }
    }
}

/// The search path, which finds the agent's own program by its name, but no other file beside it.
fn search_path(root: Option<&Path>, logs: &Path) -> Result<String> {
    let own = match root {
        Some(_) => PathBuf::from(PROGRAMS),
        None => {
            let programs = logs.join("bin");
            make(&programs)?;
            symlink(std::env::current_exe()?, programs.join("runoff-agent"))?;
            programs
        }
    };
    let own = own.to_str().context("its path is not valid UTF-8")?;
    ensure!(!own.contains(':'), "{own} has a colon, so that no program is found in it");
    Ok(format!("{own}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"))
}
