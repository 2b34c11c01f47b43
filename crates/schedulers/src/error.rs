// SPDX-License-Identifier: GPL-2.0-only
//! Why a scheduler is not in charge.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::parameters::ParameterError;
use super::sysfs::Unreadable;

#[derive(Debug, Error)]
pub enum AttachError {
    #[error("there is no scheduler {name:?} inside this program; it has {}", known.join(", "))]
    UnknownScheduler { name: String, known: Vec<String> },
    #[error("{}", of_scheduler(scheduler, error))]
    BadParameter { scheduler: String, error: ParameterError },
    #[error("cannot read the object {path:?}: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
    #[error(
        "the kernel refuses {ops:?}, the name in the struct sched_ext_ops of {name}: use letters, digits, _ and . only"
    )]
    BadName { name: String, ops: String },
    #[error("{name} is not a sched_ext scheduler: {reason}")]
    NotAScheduler { name: String, reason: String },
    #[error(
        "this kernel cannot change its CPU scheduler: it needs CONFIG_SCHED_CLASS_EXT, which exists since Linux 6.12"
    )]
    NoSchedExt,
    #[error(
        "this kernel does not describe its types: it needs CONFIG_DEBUG_INFO_BTF (/sys/kernel/btf/vmlinux)"
    )]
    NoBtf,
    #[error(
        "this kernel describes {function} and {others} more functions of sched_ext wrongly, because it was built with pahole older than 1.31: no scheduler can be attached to it, use another build of the kernel"
    )]
    WrongBtf { function: String, others: usize },
    #[error("the kernel's types cannot be read: {error}")]
    NoTypes { error: libbpf_rs::Error },
    #[error(
        "this kernel tells only the lower half of 64-bit numbers such as {name}, because it was built with pahole --skip_encoding_btf_enum64: no scheduler can be attached to it, use another build of the kernel"
    )]
    TruncatedTypes { name: String },
    #[error("attaching a scheduler needs root: run it with sudo, or use --on lab")]
    NotRoot,
    #[error("the scheduler {ops:?} is attached already: stop the program that attached it first")]
    AlreadyAttached { ops: String },
    #[error("which scheduler is in charge cannot be told: {0}")]
    Untold(#[from] Unreadable),
    /// `log` ends with the message of the verifier or the kernel.
    #[error("the kernel rejected {name}: {reason}")]
    Rejected { name: String, reason: String, log: String },
    #[error("cannot start {program:?}: {}", explain_start(program, error))]
    ProgramNotStarted { program: String, error: io::Error },
    /// `output` holds the program's last lines.
    #[error("{program:?} {reason}")]
    ProgramFailed { program: String, reason: String, output: String },
    #[error("{program:?} could not be ended as requested: {error:#}")]
    ProgramNotEnded { program: String, error: anyhow::Error },
    #[error("the scheduler {ops:?} did not let go of the CPUs; see the kernel log")]
    StillAttached { ops: String },
    #[error("{name} is not attached: {} is in charge", in_charge(running))]
    NotAttached { name: String, running: String },
    #[error("reaching a running scheduler needs root: run it with sudo")]
    NotRootToReach,
    #[error(
        "the attached {name} describes no {what}: it is another scheduler than runoff's of that name"
    )]
    Foreign { name: String, what: &'static str },
    #[error("{name} counts nothing for single tasks")]
    NoTaskCounters { name: String },
    #[error("there is no thread {tid}: {error}")]
    NoTask { tid: u32, error: io::Error },
    #[error("cannot reach the attached {name}: {reason}")]
    Unreachable { name: String, reason: String },
}

/// The message with the scheduler's name, which some have already.
fn of_scheduler(scheduler: &str, error: &ParameterError) -> String {
    match error {
        ParameterError::Unknown { .. } => error.to_string(),
        _ => format!("{scheduler}: {error}"),
    }
}

fn explain_start(program: &str, error: &io::Error) -> String {
    // The kernel says the same of a program that is there, and of what its first line names.
    if error.kind() == io::ErrorKind::NotFound && Path::new(program).exists() {
        return "it is there, but what it runs with is not: the interpreter of its first line, or its loader".into();
    }
    error.to_string()
}

/// Names the scheduler in charge when sysfs shows `running`.
pub fn in_charge(running: &str) -> String {
    match running {
        "" => "the kernel's own scheduler".into(),
        ops => format!("{ops:?}"),
    }
}

impl AttachError {
    /// The exit code that the command line promises: 64 for wrong usage, 69 for something that is
    /// missing.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownScheduler { .. }
            | Self::BadParameter { .. }
            | Self::Unreadable { .. }
            | Self::BadName { .. }
            | Self::NotAScheduler { .. } => 64,
            Self::NoSchedExt
            | Self::NoBtf
            | Self::WrongBtf { .. }
            | Self::NoTypes { .. }
            | Self::TruncatedTypes { .. }
            | Self::NotRoot
            | Self::NotRootToReach
            | Self::ProgramNotStarted { .. } => 69,
            _ => 1,
        }
    }

    /// The end of the log that explains the error, empty if the error says it all.
    pub fn detail(&self) -> &str {
        match self {
            Self::Rejected { log, .. } => log,
            Self::ProgramFailed { output, .. } => output,
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_without_its_interpreter_is_told_from_a_program_that_is_not_there() {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let told = |program: &str, error| {
            AttachError::ProgramNotStarted { program: program.into(), error }.to_string()
        };
        assert!(told("/nowhere/setup", missing()).ends_with("entity not found"));
        assert!(told("/proc/self/exe", missing()).contains("the interpreter of its first line"));
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(told("/proc/self/exe", refused).ends_with("permission denied"));
    }
}
