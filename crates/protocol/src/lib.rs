// SPDX-License-Identifier: GPL-2.0-only
//! The border between Python and Rust: one JSON object a line, both ways.
//!
//! The notebook sends requests on standard input and the agent answers with events on standard
//! output. These types are the schema: `runoff-agent schema` prints it, and the Python side
//! validates every line against that print. See docs/protocol.md.

pub mod metrics;
mod settings;
mod work;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use metrics::{Direction, Metric, Metrics};
pub use settings::{Setting, SettingSeen};
pub use work::{Extract, Find, Load, OwnFile, Server, Stream, Which, Workload};

/// Raised whenever a message changes in a way the other side would misread.
pub const VERSION: u32 = 14;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// Take one sample. The next request is read only after its `sample` or `void` was written.
    Sample(Box<Cell>),
    /// Have the disk, attach the scheduler, and put both back again: will it work at all? Answered by `checked` or
    /// `refused`.
    Check(Box<Arm>),
    /// Put everything back and leave.
    Bye,
}

/// What is in charge of the machine for a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    pub id: String,
    pub scheduler: Scheduler,
    #[serde(default = "place_in_memory")]
    pub scratch: PathBuf,
    #[serde(default)]
    pub disk: Option<Disk>,
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// Settings of the workload, and of each load that may run beside it.
    #[serde(default)]
    pub works: Vec<Vec<Setting>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    pub id: String,
    pub scheduler: Scheduler,
    pub workload: Workload,
    /// What runs beside it.
    #[serde(default)]
    pub load: Option<Load>,
    /// Before the run, write back and drop what is cached, and empty a guest's swap space.
    #[serde(default)]
    pub flush: bool,
    /// Run the workload once without measuring it, so that what it needs is cached.
    #[serde(default)]
    pub rehearse: bool,
    /// What observes the workload.
    #[serde(default)]
    pub probes: Vec<Probe>,
    /// Where scratch directories are made, as workload and load name it.
    #[serde(default = "place_in_memory")]
    pub scratch: PathBuf,
    /// What is below that, and behind which elevator; without it, what is there already.
    #[serde(default)]
    pub disk: Option<Disk>,
    /// Settings of the machine that are in force for this sample, in this order.
    #[serde(default)]
    pub settings: Vec<Setting>,
}

fn place_in_memory() -> PathBuf {
    "/tmp".into()
}

/// A way to observe; docs/probes.md tells what each counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Probe {
    Wakeups,
    Turns,
    Idle,
    Migrations,
    Scheduler,
    Requests,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Disk {
    Made(MadeDisk),
    Borrowed(Borrow),
}

/// The machine's own below the scratch directories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Borrow {
    /// One of the kernel's; without it, what is in charge stays, and there need not be any disk.
    pub elevator: Option<String>,
    pub parameters: BTreeMap<String, String>,
}

/// A disk that was borrowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BorrowedDisk {
    /// The disk's name in /sys/block.
    pub name: String,
    /// The disk's model, and whether it turns.
    pub about: String,
    pub elevator: String,
}

/// A block device behind an elevator and the model of a disk, made for one sample and mounted where the scratch
/// directories are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MadeDisk {
    pub elevator: String,
    pub parameters: BTreeMap<String, String>,
    /// NAME[:key=value,...]
    pub model: String,
    pub size_mb: u64,
    /// Holds the data; memory without it.
    pub file: Option<PathBuf>,
    /// A file with the blocks of an ext4 file system of that size, as `runoff-agent disk --content` wants them.
    pub content: PathBuf,
}

/// The scheduler that is to be in charge of the CPUs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Scheduler {
    /// The kernel's own; no sched_ext scheduler may be attached.
    Default,
    /// One of the objects inside this binary.
    Builtin { name: String, parameters: BTreeMap<String, String> },
    /// A sched_ext object file.
    Object { path: PathBuf, parameters: BTreeMap<String, String> },
    /// A program that attaches a scheduler for as long as it runs.
    Program { argv: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Event {
    Hello {
        protocol: u32,
        version: String,
        fingerprint: serde_json::Value,
        /// Scheduling settings and limits that the agent runs with, for `session --instrument`.
        instrument: serde_json::Value,
    },
    Progress {
        id: String,
        phase: Phase,
    },
    Checked {
        id: String,
        ops: String,
        object: String,
        /// Disks of the machine's own that were borrowed.
        disks: Vec<BorrowedDisk>,
        settings: Vec<SettingSeen>,
    },
    Refused {
        id: String,
        reason: String,
        detail: String,
        /// As the command line promises: 64 for what the user asked wrongly, 69 for what is missing, else 1.
        exit_code: u8,
    },
    /// A piece of the log of the disk's requests, before the `sample` that it belongs to: whole lines of
    /// tab-separated columns, the first piece with their names.
    Requests {
        id: String,
        text: String,
    },
    Sample(Box<Sample>),
    Void(Box<Void>),
    Log {
        level: Level,
        text: String,
    },
    Bye,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Prepare,
    Attach,
    Run,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Info,
    Warning,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub id: String,
    /// Seconds, counts and kilobytes by metric name; docs/protocol.md lists the standard ones.
    pub metrics: Metrics,
    pub proof: Proof,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Void {
    pub id: String,
    /// One sentence.
    pub reason: String,
    /// The end of the log that explains it (verifier, program output), if any.
    pub detail: String,
    /// Whether the agent was told to end, so that the reason says nothing about the scheduler.
    pub stopped: bool,
    pub proof: Option<Proof>,
}

/// What the kernel said about the scheduler in charge, before and after the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// What was attached, which `before` and `after` have to show.
    pub attached: Attached,
    pub before: State,
    pub after: State,
    /// Threads of the workload whose class the kernel showed, and how many were outside sched_ext's.
    pub threads_checked: u32,
    pub threads_outside: u32,
    /// Threads of the workload that were above the class, in one of real time.
    pub threads_realtime: u32,
    /// Threads of the workload whose class the kernel did not show.
    pub threads_unjudged: u32,
    /// Sub-schedulers that had the workload's cgroup or one above it.
    pub sub_schedulers: Vec<String>,
    pub cpu_limits: CpuLimits,
    /// Settings of the machine and of the works, which were in force throughout.
    pub settings: Vec<SettingSeen>,
    /// What of `before` and `after` could not be read, and why; empty if all could.
    pub unreadable: String,
    /// Messages of the kernel about sched_ext since the scheduler was attached.
    pub kernel_log: Vec<String>,
    /// What a scheduler that was taken down during the sample noted of it; null where it stayed, or notes nothing.
    pub exit: Option<Exit>,
    /// SHA-256 of the object, empty for `default` and programs.
    pub object: String,
}

/// Limits of CPU time that control groups had which work was in while the workload ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuLimits {
    /// Such as `/g: cpu.max 20000 100000`, one for each group, sorted; a path below a group that the agent made begins
    /// with the word for its purpose, as `workload/g`.
    pub found: Vec<String>,
    /// Why there may be more; empty if all groups were watched.
    pub unwatched: String,
    /// Whether the scheduler in charge applies limits; null where that is not known.
    pub applied: Option<bool>,
}

/// Why the kernel took a scheduler down, as it tells the scheduler (struct scx_exit_info).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    /// Such as "runnable task stall".
    pub reason: String,
    /// Such as "sh[42] failed to run for 2.0s"; may be empty.
    pub message: String,
    /// The scheduler's own code, or the kernel's; 0 if there is none.
    pub code: i64,
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.as_str() {
            "" => write!(out, "{}", self.reason),
            message => write!(out, "{} ({message})", self.reason),
        }
    }
}

/// As the kernel calls an attachment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// Empty for `default`.
    pub ops: String,
    /// For `default`, of the last attachment before the sample.
    pub enable_seq: u64,
}

/// /sys/kernel/sched_ext at one moment; all empty on a kernel without sched_ext.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub state: String,
    pub ops: String,
    pub enable_seq: u64,
    pub nr_rejected: u64,
    pub switch_all: u64,
}
