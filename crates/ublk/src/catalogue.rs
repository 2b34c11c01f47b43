// SPDX-License-Identifier: GPL-2.0-only
//! Every elevator and every model of a disk, as users see them.

use block_queue::kernel::{KERNEL_ELEVATORS, KernelElevator};
use elevators::catalogue::ELEVATORS;
use elevators::parameters::Description;
use serde::Serialize;
use serde_json::json;

/// How requests are told apart: which process each is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribution {
    /// Nothing needs to know.
    None,
    /// The server sees who has made a request.
    Process,
    /// The kernel's elevators see it themselves.
    Kernel,
}

impl Attribution {
    /// Noop alone does not ask whose a request is.
    pub fn of_ours(elevator: &Description) -> Self {
        if elevator.name == "noop" { Self::None } else { Self::Process }
    }

    /// The word that tells of a disk that is served.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Process => "process",
            Self::Kernel => "kernel",
        }
    }

    /// Whose requests are, as a report says it of an arm.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Process => "process; the kernel's flusher for what it writes back",
            Self::Kernel => "the kernel's own",
        }
    }
}

/// An elevator with what is known of it beside its parameters.
#[derive(Serialize)]
struct Described<T> {
    #[serde(flatten)]
    elevator: T,
    identity: &'static str,
}

/// Describes every elevator, and every model of a disk with its parameters.
pub fn catalogue() -> serde_json::Value {
    let ours =
        |elevator| Described { elevator, identity: Attribution::of_ours(elevator).sentence() };
    let kernels = |elevator: &'static KernelElevator| Described {
        elevator,
        identity: Attribution::Kernel.sentence(),
    };
    json!({
        "elevators": ELEVATORS.iter().map(ours).collect::<Vec<_>>(),
        "kernel": KERNEL_ELEVATORS.iter().map(kernels).collect::<Vec<_>>(),
        "disk": disk_model::DISK,
        "models": disk_model::DISKS,
    })
}
