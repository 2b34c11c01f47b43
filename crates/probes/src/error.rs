// SPDX-License-Identifier: GPL-2.0-only
//! Why a probe cannot be attached or read.

use thiserror::Error;

#[derive(Debug, Error)]
pub enum ProbeError {
    #[error("the kernel does not take the probe {name}: {reason}")]
    Rejected { name: &'static str, reason: String, log: String },
    #[error("the kernel does not count how long BPF programs run: {0}")]
    NoRunTime(std::io::Error),
    #[error("the probe {name} cannot be read: {reason}")]
    Unreadable { name: &'static str, reason: String },
}

impl ProbeError {
    /// The end of the log that explains it, empty if the error says it all.
    pub fn detail(&self) -> &str {
        match self {
            Self::Rejected { log, .. } => log,
            _ => "",
        }
    }
}
