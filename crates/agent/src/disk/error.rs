// SPDX-License-Identifier: GPL-2.0-only
//! Why a sample cannot have its disk: the place of its directories, or a disk that is borrowed.

use std::io;
use std::path::PathBuf;

use block_queue::QueueError;
use machine::loans::LoanError;
use thiserror::Error;
use ublk::DiskError;

/// Why a directory cannot be used.
#[derive(Debug, Error)]
pub enum PlaceError {
    #[error("cannot work in {path}: {error}", path = path.display())]
    Unusable { path: PathBuf, error: io::Error },
    #[error(
        "{path} is writable by other users, who could redirect what root writes there: only root may write in \
         {shared}, or name another directory",
        path = path.display(), shared = shared.display()
    )]
    Shared { path: PathBuf, shared: PathBuf },
    #[error("{path} is on no disk but on {file_system}: name a directory on a disk", path = path.display())]
    OnNoDisk { path: PathBuf, file_system: String },
}

impl PlaceError {
    /// The exit code that the command line promises for wrong usage: every place that cannot be
    /// used is.
    pub fn exit_code(&self) -> u8 {
        64
    }
}

/// The exit code of an error about a disk; None if the error is about something else.
pub fn exit_code(error: &anyhow::Error) -> Option<u8> {
    let of_place = || error.downcast_ref().map(PlaceError::exit_code);
    let of_loan = || error.is::<LoanError>().then_some(1);
    let of_queue = || error.downcast_ref().map(QueueError::exit_code);
    let of_disk = || error.downcast_ref().map(DiskError::exit_code);
    of_place().or_else(of_loan).or_else(of_queue).or_else(of_disk)
}
