// SPDX-License-Identifier: GPL-2.0-only
//! Why a disk cannot be made, served or removed.

use std::io;
use std::path::PathBuf;

use block_queue::QueueError;
use elevators::parameters::ParameterError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum DiskError {
    #[error(
        "this kernel has no ublk devices loaded: modprobe ublk_drv (Linux 6.5 or newer, CONFIG_BLK_DEV_UBLK)"
    )]
    NoUblk,
    #[error("a ublk disk needs root: run it with sudo")]
    NotRoot,
    #[error("a ublk disk needs io_uring: {error}; see /proc/sys/kernel/io_uring_disabled")]
    NoRing { error: io::Error },
    #[error("there is no disk model {name:?}; there are {known}")]
    UnknownModel { name: String, known: String },
    #[error("{owner}: {error}")]
    BadParameter { owner: String, error: ParameterError },
    #[error("a disk of {size_mb} MiB is larger than its model, which has {model_mb} MiB")]
    TooLarge { size_mb: u64, model_mb: u64 },
    #[error("a disk needs at least 1 MiB")]
    TooSmall,
    #[error("cannot use {path:?} for the disk's data: {error}")]
    NoData { path: PathBuf, error: io::Error },
    #[error(
        "{path} is there already, and a new disk begins empty: name another file, or remove it",
        path = path.display()
    )]
    FileThere { path: PathBuf },
    #[error(
        "{path} is on a file system that moves no single sectors of 512 bytes, as the disk has them: name a file on a \
         disk with such sectors",
        path = path.display()
    )]
    CoarseSectors { path: PathBuf },
    #[error("there is no memory for the disk's data: {error}")]
    NoMemory { error: io::Error },
    #[error("cannot see which process a request belongs to, which {elevator} needs: {error}")]
    NoIdentity { elevator: &'static str, error: anyhow::Error },
    #[error("{device} is not a disk of runoff: see runoff disk list")]
    NotOurs { device: String },
    #[error(
        "{device} is in use, {users}: end that first, or let its users have I/O errors with --force"
    )]
    InUse { device: String, users: String },
    #[error("{device} has no requests any more, but its server did not end: kill -9 {server}")]
    Lingers { device: PathBuf, server: u32 },
    #[error(
        "{device} is served by process {server} of another PID namespace, such as a container: remove it there"
    )]
    ServedElsewhere { device: String, server: u32 },
    #[error("{device} is removed, but its server had failed: {reason}")]
    EndedBadly { device: String, reason: String },
    #[error("cannot write in {path:?} what is to be known of disks: {error}")]
    NoRecord { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("{what} failed: {error}")]
    Ublk { what: &'static str, error: io::Error },
    #[error("the disk's server failed: {error}")]
    Server { error: io::Error },
}

impl DiskError {
    /// The exit code that the command line promises: 64 for wrong usage, 69 for something that is
    /// missing.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownModel { .. }
            | Self::BadParameter { .. }
            | Self::TooLarge { .. }
            | Self::TooSmall
            | Self::NoData { .. }
            | Self::FileThere { .. }
            | Self::CoarseSectors { .. }
            | Self::NotOurs { .. } => 64,
            Self::NoUblk | Self::NotRoot | Self::NoRing { .. } | Self::NoIdentity { .. } => 69,
            Self::Queue(error) => error.exit_code(),
            Self::NoMemory { .. }
            | Self::InUse { .. }
            | Self::Lingers { .. }
            | Self::ServedElsewhere { .. }
            | Self::EndedBadly { .. }
            | Self::NoRecord { .. }
            | Self::Ublk { .. }
            | Self::Server { .. } => 1,
        }
    }
}
