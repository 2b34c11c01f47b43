// SPDX-License-Identifier: GPL-2.0-only
//! Puts a CPU scheduler in charge of this machine and takes it away again.

mod builtin;
mod counters;
mod error;
pub mod globals;
mod kernel_enums;
pub mod kernel_functions;
mod kernel_log;
pub mod libbpf_log;
mod live;
mod machine;
mod object;
mod observers;
pub mod opened;
mod parameters;
mod program;
pub mod run_time;
mod running;
pub mod stats;
mod struct_ops;
mod symbols;
pub mod sysfs;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::unistd::geteuid;
use sha2::{Digest, Sha256};

use crate::protocol;

pub use builtin::{all as builtins, find as builtin};
pub use error::AttachError;
pub use kernel_log::KernelLog;
pub use live::set as set_parameters;
pub use parameters::{ParameterError, pairs};

use counters::Counters;
use object::AttachedObject;
use program::RunningProgram;

/// The kernel lets all tasks pass through the change of class; seconds on a busy machine.
const DETACH_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);

/// A scheduler in charge. Dropping it detaches without waiting.
pub struct Attachment {
    held: Held,
    ops: String,
    sha256: String,
    enable_seq: u64,
}

enum Held {
    Default,
    Object(AttachedObject),
    Program(RunningProgram),
}

/// Puts the scheduler of `spec` in charge; returns when it is.
///
/// # Errors
/// Everything that can be wrong with the scheduler, its parameters or this kernel. Parameters are
/// refused before anything is loaded. Nothing stays attached after an error.
pub fn attach(spec: &protocol::Scheduler) -> Result<Attachment, AttachError> {
    let before = sysfs::read();
    if !before.ops.is_empty() {
        return Err(AttachError::AlreadyAttached { ops: before.ops });
    }
    match spec {
        protocol::Scheduler::Default => {
            let held = Held::Default;
            let (ops, sha256, enable_seq) = Default::default();
            Ok(Attachment { held, ops, sha256, enable_seq })
        }
        protocol::Scheduler::Builtin { name, parameters } => {
            let builtin = builtin::find(name)?;
            attach_object(&builtin.name, builtin.bytes, parameters)
        }
        protocol::Scheduler::Object { path, parameters } => {
            let bytes = fs::read(path)
                .map_err(|error| AttachError::Unreadable { path: path.clone(), error })?;
            attach_object(&stem(path), &bytes, parameters)
        }
        protocol::Scheduler::Program { argv } => {
            check_kernel()?;
            check_root()?;
            let (program, ops) = RunningProgram::start(argv, before.enable_seq)?;
            let (held, sha256) = (Held::Program(program), String::new());
            Ok(Attachment { held, ops, sha256, enable_seq: sysfs::read().enable_seq })
        }
    }
}

fn attach_object(
    name: &str,
    bytes: &[u8],
    parameters: &BTreeMap<String, String>,
) -> Result<Attachment, AttachError> {
    let prepared = object::Prepared::open(name, bytes, parameters)?;
    check_kernel()?;
    check_root()?;
    let object = prepared.attach()?;
    let (ops, enable_seq) = (object.ops_name().to_owned(), object.enable_seq());
    let sha256 = format!("{:x}", Sha256::digest(bytes));
    Ok(Attachment { held: Held::Object(object), ops, sha256, enable_seq })
}

/// Reads a scheduler as a user names it: one of ours, the path of an object, or exec:PROGRAM.
/// `rest` holds parameters as key=value, or the program's arguments.
///
/// # Errors
/// A parameter is not key=value.
pub fn named(name: &str, rest: &[String]) -> Result<protocol::Scheduler, ParameterError> {
    if let Some(program) = name.strip_prefix("exec:") {
        let argv = std::iter::once(program.to_owned()).chain(rest.iter().cloned()).collect();
        return Ok(protocol::Scheduler::Program { argv });
    }
    let parameters = pairs(rest)?;
    Ok(match name {
        "default" => protocol::Scheduler::Default,
        path if path.contains('/') => protocol::Scheduler::Object { path: path.into(), parameters },
        _ => protocol::Scheduler::Builtin { name: name.into(), parameters },
    })
}

/// "dir/simple.bpf.o" is "simple".
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn check_kernel() -> Result<(), AttachError> {
    if !Path::new(sysfs::ROOT).exists() {
        return Err(AttachError::NoSchedExt);
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err(AttachError::NoBtf);
    }
    Ok(())
}

fn check_root() -> Result<(), AttachError> {
    if geteuid().is_root() { Ok(()) } else { Err(AttachError::NotRoot) }
}

/// Whether the scheduler `name` is attached, by any process, and this one may look into it.
fn reachable(name: &str) -> Result<(), AttachError> {
    let running = sysfs::read().ops;
    if running != name {
        builtin::find(name)?;
        check_kernel()?;
        return Err(AttachError::NotAttached { name: name.into(), running });
    }
    if geteuid().is_root() { Ok(()) } else { Err(AttachError::NotRootToReach) }
}

impl Attachment {
    /// The number that the kernel gave to this attachment.
    pub fn enable_seq(&self) -> u64 {
        self.enable_seq
    }

    /// What /sys/kernel/sched_ext/root/ops says while this is in charge; empty for the default.
    pub fn ops_name(&self) -> &str {
        &self.ops
    }

    /// Empty for the default and for programs.
    pub fn object_sha256(&self) -> &str {
        &self.sha256
    }

    /// Gives the CPUs back to the kernel's own scheduler; returns when it has them, or when
    /// another scheduler has taken the place of this one.
    ///
    /// # Errors
    /// The kernel or the program did not let go in time.
    pub fn detach(self) -> Result<(), AttachError> {
        match self.held {
            Held::Default => return Ok(()),
            Held::Object(object) => drop(object),
            Held::Program(program) => program.stop(),
        }
        let start = Instant::now();
        while self.enable_seq == sysfs::read().enable_seq && sysfs::read().state != "disabled" {
            if start.elapsed() > DETACH_LIMIT {
                return Err(AttachError::StillAttached { ops: self.ops });
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// The scheduler's own counters; none for the default and for programs.
    ///
    /// # Errors
    /// The process has no file descriptors left.
    pub fn counters(&self) -> libbpf_rs::Result<Counters> {
        match &self.held {
            Held::Object(object) => object.counters(),
            Held::Default | Held::Program(_) => Ok(Counters::default()),
        }
    }
}
