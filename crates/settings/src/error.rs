// SPDX-License-Identifier: GPL-2.0-only
//! Why a setting cannot be made.

use std::io;
use std::path::PathBuf;

use machine::loans::LoanError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum SettingError {
    #[error("there is no setting {name:?}: runoff list settings")]
    Unknown { name: String },
    #[error("{name} must be {allowed}, not {value:?}")]
    Wrong { name: String, value: String, allowed: &'static str },
    #[error("{name}: the kernel says: {message}")]
    NotKnown { name: String, message: String },
    #[error("{name}: {why}")]
    Absent { name: String, why: String },
    #[error("{name} and {other} are one setting, {path}: leave one of them out", path = path.display())]
    Twice { name: String, other: String, path: PathBuf },
    #[error("{name}: cannot read {path}: {error}", path = path.display())]
    Unread { name: String, path: PathBuf, error: io::Error },
    #[error(
        "{name}: the kernel does not take its present value {value:?} back ({error}), so it could not be put back: it \
         cannot be a part of an arm"
    )]
    OneWay { name: String, value: String, error: io::Error },
    #[error("{name}: the kernel does not take {value:?}: {error}{offered}")]
    Refused { name: String, value: String, error: io::Error, offered: String },
    #[error("{name}: {value:?} did not stay: it is {found:?}{offered}")]
    NotTaken { name: String, value: String, found: String, offered: String },
    #[error(transparent)]
    Loan(#[from] LoanError),
}

impl SettingError {
    /// As the command line promises: 64 for what the user asked wrongly, 69 for what the machine
    /// lacks.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotKnown { .. }
            | Self::Unknown { .. }
            | Self::Wrong { .. }
            | Self::Twice { .. }
            | Self::OneWay { .. } => 64,
            Self::Refused { .. } | Self::NotTaken { .. } => 64,
            Self::Absent { .. } | Self::Unread { .. } => 69,
            Self::Loan(_) => 1,
        }
    }
}
