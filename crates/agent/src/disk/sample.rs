// SPDX-License-Identifier: GPL-2.0-only
//! The disk that a sample's directories are on, made for it or the machine's own.

use std::path::Path;

use anyhow::Result;

use super::borrowed::Borrowed;
use super::mounted::Mounted;
use machine::stop::Stop;
use protocol::{BorrowedDisk, Disk, Metrics};

pub enum SampleDisk<'a> {
    Made(Mounted<'a>),
    Borrowed(Borrowed),
}

impl<'a> SampleDisk<'a> {
    /// Puts `disk` behind its elevator, below `place`, which is below `root` if there is one. A
    /// disk that is made keeps a log of each request if `with_log`.
    ///
    /// # Errors
    /// There is no such disk here, its elevator does not take charge, or a stop was requested.
    pub fn start(
        disk: &Disk,
        root: Option<&Path>,
        place: &Path,
        with_log: bool,
        stop: &'a Stop,
    ) -> Result<Self> {
        Ok(match disk {
            Disk::Made(wanted) => Self::Made(Mounted::start(wanted, root, place, with_log, stop)?),
            Disk::Borrowed(wanted) => Self::Borrowed(Borrowed::start(wanted, root, place, stop)?),
        })
    }

    /// The machine's own disks that were borrowed.
    pub fn borrowed(&self) -> Vec<BorrowedDisk> {
        match self {
            Self::Made(_) => Vec::new(),
            Self::Borrowed(borrowed) => borrowed.disks(),
        }
    }

    /// Notes that the workload starts now.
    pub fn note_start(&self) {
        match self {
            Self::Made(mounted) => mounted.note_start(),
            Self::Borrowed(borrowed) => borrowed.note_start(),
        }
    }

    /// Notes that the sample has been measured.
    pub fn note_end(&self) {
        match self {
            Self::Made(mounted) => mounted.hurry(),
            Self::Borrowed(borrowed) => borrowed.note_end(),
        }
    }

    /// Why the disk's elevator was not the same throughout.
    pub fn objection(&self) -> Option<String> {
        match self {
            Self::Made(mounted) => mounted.objection(),
            Self::Borrowed(borrowed) => borrowed.objection(),
        }
    }

    /// Takes the disk away, or gives it back; returns its metrics until `note_end`. `tell` gets the
    /// log in pieces of whole lines, if there is one and the workload was started.
    ///
    /// # Errors
    /// The disk was lost while it was in use, or could not be given back as it was.
    pub fn end(self, tell: &mut dyn FnMut(String)) -> Result<Metrics> {
        match self {
            Self::Made(mounted) => Ok(mounted.end(tell)?.metrics()),
            Self::Borrowed(borrowed) => borrowed.end(),
        }
    }
}
