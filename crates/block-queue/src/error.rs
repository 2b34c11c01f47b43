// SPDX-License-Identifier: GPL-2.0-only
//! Why a queue does not have the elevator that it should have.

use std::io;

use parameters::ParameterError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum QueueError {
    #[error("there is no elevator {name:?}; there are {known}")]
    UnknownElevator { name: String, known: String },
    #[error("{owner}: {error}")]
    BadParameter { owner: String, error: ParameterError },
    #[error("the kernel has no elevator {name} for {device}: modprobe {module}")]
    NoKernelElevator { name: String, device: String, module: &'static str },
    #[error("cannot put the elevator {name} in charge of {device}: {error}")]
    NotInCharge { name: String, device: String, error: io::Error },
    #[error("the kernel has no {file} of its elevator {name}, or does not let it be set: {error}")]
    NoTunable { name: String, file: String, error: io::Error },
    #[error("the kernel did not take {file} = {wanted} of its elevator {name}: it is {found}")]
    NotTaken { name: String, file: String, wanted: u64, found: String },
    #[error("{disk} has no elevator: requests do not wait in a queue of its own ({error})")]
    NoElevator { disk: String, error: io::Error },
}

impl QueueError {
    /// The error for the name of an elevator that is not one of `known`.
    pub fn unknown_elevator(name: &str, known: impl Iterator<Item = &'static str>) -> Self {
        let known = known.collect::<Vec<_>>().join(", ");
        Self::UnknownElevator { name: name.into(), known }
    }

    /// The exit code that the command line promises: 64 for wrong usage, 69 for something that is
    /// missing.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownElevator { .. } | Self::BadParameter { .. } => 64,
            Self::NoKernelElevator { .. } | Self::NoElevator { .. } | Self::NoTunable { .. } => 69,
            Self::NotInCharge { .. } | Self::NotTaken { .. } => 1,
        }
    }
}
