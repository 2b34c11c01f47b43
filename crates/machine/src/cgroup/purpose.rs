// SPDX-License-Identifier: GPL-2.0-only
//! What a control group is for, which is a part of its name.

/// The purpose of a cgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Prepare,
    Rehearsal,
    Workload,
    /// In the one of a workload that has a server: its command.
    Client,
    /// In the one of a workload: its server.
    Server,
    Load,
    Program,
    Disk,
}

impl Purpose {
    const ALL: [Self; 8] = [
        Self::Prepare,
        Self::Rehearsal,
        Self::Workload,
        Self::Client,
        Self::Server,
        Self::Load,
        Self::Program,
        Self::Disk,
    ];

    /// The word for each purpose in names.
    pub fn words() -> [&'static str; 8] {
        Self::ALL.map(Self::word)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Rehearsal => "rehearsal",
            Self::Workload => "workload",
            Self::Client => "client",
            Self::Server => "server",
            Self::Load => "load",
            Self::Program => "program",
            Self::Disk => "disk",
        }
    }
}
