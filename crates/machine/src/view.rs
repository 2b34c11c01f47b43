// SPDX-License-Identifier: GPL-2.0-only
//! The mounts that some commands see: at first those of this process, then with their own changes.
//! This process does not see the changes, so commands cannot cover or remove anything that it
//! reads, and all changes end with the last command.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow};
use nix::sched::{CloneFlags, setns};
use nix::unistd::gettid;

use crate::mounts::{self, Mounts};

/// The mounts of some commands, which exist until this is dropped and all commands have ended.
///
/// Where this process may not have mounts of its own, commands may not mount anything, and share its mounts.
#[derive(Debug)]
pub struct View {
    holder: Option<Holder>,
}

/// A thread that has these mounts and does nothing else.
#[derive(Debug)]
struct Holder {
    door: Option<Door>,
    mountinfo: PathBuf,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The entrance for other processes: the namespace, and what `/` and `.` are in it, since this
/// process may be confined to a part of the file system.
#[derive(Debug)]
struct Door {
    namespace: OwnedFd,
    root: OwnedFd,
    directory: OwnedFd,
}

/// Places that commands have mounted and unmounted, without those of the rest of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    pub mounted: Vec<PathBuf>,
    pub unmounted: Vec<PathBuf>,
}

/// The mounts of the commands and of this process, at one moment.
#[derive(Debug, Clone)]
pub struct Seen {
    there: Mounts,
    /// The mounts of this process; None if both are the same.
    here: Option<Mounts>,
}

impl View {
    /// # Errors
    /// The kernel has no room for another mount namespace, or /proc cannot be read.
    pub fn new() -> Result<Self> {
        mounts::keep_apart()?;
        let (tell, told) = channel();
        let (end, ended) = channel();
        let thread = std::thread::Builder::new().spawn(move || hold(&tell, &ended));
        let thread = thread.context("cannot keep mounts apart")?;
        let lost = || anyhow!("cannot keep mounts apart: their thread has ended");
        let held = told.recv().map_err(|_| lost())??;
        let holder = held.map(|(door, mountinfo)| Holder {
            door: Some(door),
            mountinfo,
            thread: Some((end, thread)),
        });
        Ok(Self { holder })
    }

    /// Makes `command` see these mounts. Steps between fork and exec that use files must be added
    /// after this.
    ///
    /// # Errors
    /// The process has no file descriptors left.
    pub fn enter(&self, command: &mut Command) -> io::Result<()> {
        let door = self.holder.as_ref().and_then(|holder| holder.door.as_ref());
        let Some(Door { namespace, root, directory }) = door else { return Ok(()) };
        let (namespace, root) = (namespace.try_clone()?, root.try_clone()?);
        let directory = directory.try_clone()?;
        // Between fork and exec only async-signal-safe calls: other threads' locks may be held.
        let enter = move || -> io::Result<()> {
            setns(&namespace, CloneFlags::CLONE_NEWNS)?;
            rustix::process::fchdir(&root)?;
            rustix::process::chroot(c".")?;
            Ok(rustix::process::fchdir(&directory)?)
        };
        // SAFETY: plain system calls.
        unsafe { command.pre_exec(enter) };
        Ok(())
    }

    /// # Errors
    /// /proc cannot be read.
    pub fn now(&self) -> Result<Seen> {
        let here = Mounts::now()?;
        Ok(match &self.holder {
            Some(holder) => Seen { there: Mounts::listed_in(&holder.mountinfo)?, here: Some(here) },
            None => Seen { there: here, here: None },
        })
    }
}

impl Seen {
    /// Changes since `before`, without those of the rest of the machine.
    pub fn since(&self, before: &Self) -> Changes {
        let (mut mounted, mut unmounted) =
            (self.there.since(&before.there), before.there.since(&self.there));
        if let (Some(here), Some(before)) = (&self.here, &before.here) {
            let elsewhere = here.since(before);
            mounted.retain(|place| !elsewhere.contains(place));
            unmounted.retain(|place| here.has(place));
        }
        Changes { mounted, unmounted }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // First close the door: then only the thread has the mounts, and it lets go of them before
        // it ends.
        self.door = None;
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            let _ended = thread.join();
        }
    }
}

type Held = Option<(Door, PathBuf)>;

/// Holds mounts of its own until the other end of `ended` is closed.
fn hold(tell: &Sender<Result<Held>>, ended: &Receiver<()>) {
    let (held, back) = match apart() {
        Ok(Some((held, back))) => (Ok(Some(held)), Some(back)),
        Ok(None) => (Ok(None), None),
        Err(error) => (Err(error), None),
    };
    let _gone = tell.send(held);
    let _nobody = ended.recv();
    // The kernel removes a thread's mounts some time after its end, but at once if the thread
    // leaves them.
    let _at_its_end_then = back.map(|back| setns(back, CloneFlags::CLONE_NEWNS));
}

/// Gives the calling thread mounts of its own. Returns how to find them, and a handle of the former
/// ones.
fn apart() -> Result<Option<((Door, PathBuf), OwnedFd)>> {
    let open = |name: &str| -> Result<OwnedFd> {
        let opened = File::open(format!("/proc/thread-self/{name}"));
        Ok(opened.with_context(|| format!("cannot keep mounts apart without {name}"))?.into())
    };
    let back = open("ns/mnt")?;
    if !mounts::leave()? {
        return Ok(None);
    }
    let door = Door { namespace: open("ns/mnt")?, root: open("root")?, directory: open("cwd")? };
    let mountinfo = format!("/proc/self/task/{}/mountinfo", gettid());
    Ok(Some(((door, mountinfo.into()), back)))
}
