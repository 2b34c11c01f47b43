// SPDX-License-Identifier: GPL-2.0-only
//! The scene that is played, and its pipes, locks and files, as all actors share them.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use anyhow::{Context, Result};
use machine::clock::now;
use nix::sys::memfd::{MFdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use scene::{Kind, Scene};
use serde::{Deserialize, Serialize};

use super::channel::Channel;
use super::disk;
use super::meetings::{Meeting, Meetings};
use crate::shared::Shared;

/// What was there before the first actor began, and stays.
#[derive(Debug)]
pub struct Stage {
    pub scene: Scene,
    text: String,
    pub has_timelines: bool,
    memory: File,
    meetings: &'static Meetings,
    /// One for each resource that is a pipe or a socket.
    channels: Vec<Option<Channel>>,
}

/// How an actor finds it in a new program: numbers of open files.
#[derive(Debug, Serialize, Deserialize)]
pub struct Props {
    text: String,
    has_timelines: bool,
    memory: RawFd,
    channels: Vec<Option<(RawFd, RawFd)>>,
}

/// When the scene begins and ends.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Time {
    pub begin: Duration,
    pub end: Duration,
}

impl Time {
    pub fn is_over(self) -> bool {
        now() >= self.end
    }
}

impl Stage {
    /// Opens the pipes, sockets and locks of a scene, and writes its files into the working
    /// directory.
    ///
    /// # Errors
    /// The kernel refuses one, or the disk is full.
    pub fn set(scene: Scene, text: String, has_timelines: bool) -> Result<Self> {
        let memory = memfd_create("scene", MFdFlags::MFD_CLOEXEC).context("cannot share memory")?;
        let memory = File::from(memory);
        let meetings = Meetings::of_file(&memory)?;
        let mut channels = Vec::new();
        for resource in &scene.resources {
            channels.push(match resource.kind {
                Kind::Pipe { bytes } => Some(Channel::pipe(bytes)?),
                Kind::Socket { bytes } => Some(Channel::socket(bytes)?),
                Kind::File { bytes } => {
                    disk::make(&resource.name, bytes)?;
                    None
                }
                Kind::Lock | Kind::Event | Kind::Barrier { .. } => None,
            });
        }
        Ok(Self { scene, text, has_timelines, memory, meetings, channels })
    }

    /// Removes its files.
    pub fn strike(&self) {
        for resource in &self.scene.resources {
            if matches!(resource.kind, Kind::File { .. }) {
                disk::remove(&resource.name);
            }
        }
    }

    pub fn meeting(&self, resource: usize) -> &Meeting {
        self.meetings.at(resource)
    }

    /// The pipe or socket of a resource that is one.
    pub fn channel(&self, resource: usize) -> Result<&Channel> {
        self.channels[resource].as_ref().context("this is not a pipe")
    }

    /// Keeps all open for the program that this process goes on in.
    pub fn hand_over(&self) -> Result<Props> {
        fcntl_setfd(&self.memory, FdFlags::empty()).context("cannot keep memory")?;
        self.channels.iter().flatten().try_for_each(Channel::keep)?;
        let ends = self.channels.iter().map(|one| one.as_ref().map(Channel::ends));
        Ok(Props {
            text: self.text.clone(),
            has_timelines: self.has_timelines,
            memory: self.memory.as_raw_fd(),
            channels: ends.collect(),
        })
    }

    /// Finds all again in a new program.
    ///
    /// # Safety
    /// The props were handed over to this program, which has not taken them yet.
    pub unsafe fn take(props: Props) -> Result<Self> {
        // SAFETY: they are open, and nobody else's.
        let own = |number: RawFd| unsafe { OwnedFd::from_raw_fd(number) };
        let memory = File::from(own(props.memory));
        let meetings = Meetings::of_file(&memory)?;
        let channel = |(from, to)| Channel::of_ends((own(from), own(to)));
        Ok(Self {
            scene: props.text.parse()?,
            text: props.text,
            has_timelines: props.has_timelines,
            memory,
            meetings,
            channels: props.channels.into_iter().map(|ends| ends.map(channel)).collect(),
        })
    }
}
