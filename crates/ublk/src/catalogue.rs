// SPDX-License-Identifier: GPL-2.0-only
//! Every elevator and every model of a disk, as users see them.

use block_queue::kernel::{KERNEL_ELEVATORS, KernelElevator};
use elevators::catalogue::ELEVATORS;
use elevators::parameters::Description;
use serde::Serialize;
use serde_json::json;

/// How the process of each request is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribution {
    /// Not at all: nothing needs it.
    None,
    /// The server finds the process of each request.
    Process,
    /// The kernel's elevators know it themselves.
    Kernel,
}

impl Attribution {
    /// The attribution for one of our elevators: only noop does not need it.
    pub fn of_ours(elevator: &Description) -> Self {
        if elevator.name == "noop" { Self::None } else { Self::Process }
    }

    /// The word for it in the description of a served disk.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Process => "process",
            Self::Kernel => "kernel",
        }
    }

    /// The sentence about it in a report's description of an arm.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Process => "process; the kernel's flusher for what it writes back",
            Self::Kernel => "the kernel's own",
        }
    }
}

/// An elevator with more than its parameters.
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
