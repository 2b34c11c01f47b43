// SPDX-License-Identifier: GPL-2.0-only
//! Why there is no disk.

use std::io;
use std::path::PathBuf;

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
    #[error("there is no elevator {name:?}; there are {known}")]
    UnknownElevator { name: String, known: String },
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
    #[error("the kernel has no elevator {name} for {device}: modprobe {module}")]
    NoKernelElevator { name: String, device: String, module: &'static str },
    #[error("cannot put the elevator {name} in charge of {device}: {error}")]
    NotInCharge { name: String, device: String, error: io::Error },
    #[error("the kernel has no {file} of its elevator {name}, or does not let it be set: {error}")]
    NoTunable { name: String, file: String, error: io::Error },
    #[error("the kernel did not take {file} = {wanted} of its elevator {name}: it is {found}")]
    NotTaken { name: String, file: String, wanted: u64, found: String },
    #[error("cannot work in {path}: {error}", path = path.display())]
    NoPlace { path: PathBuf, error: io::Error },
    #[error(
        "{path} is not root's alone, so that others could lead elsewhere what is written there: only root may write in \
         {shared}, or name another directory",
        path = path.display(), shared = shared.display()
    )]
    SharedPlace { path: PathBuf, shared: PathBuf },
    #[error("{path} is on no disk but on {file_system}: name a directory on a disk", path = path.display())]
    OnNoDisk { path: PathBuf, file_system: String },
    #[error("{disk} has no elevator: requests do not wait in a queue of its own ({error})")]
    NoElevator { disk: String, error: io::Error },
    #[error("another runoff, process {agent}, has borrowed {disk}: wait until it has ended")]
    Lent { disk: String, agent: u32 },
    #[error("{disk} could not be put back as it was: write into /sys/block/{disk}/queue: {values}")]
    NotPutBack { disk: String, values: String },
    #[error(
        "cannot read {path:?}, which says what a disk is to get back: look at its elevator, then remove that file"
    )]
    NoReading { path: PathBuf },
    #[error("cannot see which process a request belongs to, which {elevator} needs: {error}")]
    NoIdentity { elevator: &'static str, error: anyhow::Error },
    #[error("{device} is no disk of runoff: see runoff disk list")]
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
    #[error("{what} failed: {error}")]
    Ublk { what: &'static str, error: io::Error },
    #[error("the disk's server failed: {error}")]
    Server { error: io::Error },
}

impl DiskError {
    /// What the command line promises: 64 for what the user asked wrongly, 69 for what is missing.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownElevator { .. }
            | Self::UnknownModel { .. }
            | Self::BadParameter { .. }
            | Self::TooLarge { .. }
            | Self::TooSmall
            | Self::NoData { .. }
            | Self::FileThere { .. }
            | Self::CoarseSectors { .. }
            | Self::NoPlace { .. }
            | Self::SharedPlace { .. }
            | Self::OnNoDisk { .. }
            | Self::NotOurs { .. } => 64,
            Self::NoUblk
            | Self::NotRoot
            | Self::NoRing { .. }
            | Self::NoKernelElevator { .. }
            | Self::NoElevator { .. }
            | Self::NoTunable { .. }
            | Self::NoIdentity { .. } => 69,
            _ => 1,
        }
    }
}
