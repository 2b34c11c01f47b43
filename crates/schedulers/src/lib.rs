// SPDX-License-Identifier: GPL-2.0-only
//! Puts a CPU scheduler in charge of this machine and takes it away again.

mod access;
mod builtin;
mod constants;
mod counters;
mod error;
mod exit;
#[cfg(test)]
mod fake_sysfs;
mod kernel_log;
mod live;
mod object;
mod objection;
mod observers;
pub mod owner;
mod parameters;
pub mod program;
pub mod proof;
mod running;
pub mod stats;
pub mod sysfs;
mod threads;
mod turns;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use machine::stop::Stop;
use sha2::{Digest, Sha256};

pub use builtin::{Described, all as builtins, find as builtin};
pub use error::AttachError;
pub use exit::Left;
pub use kernel_log::KernelLog;
pub use live::set as set_parameters;
pub use object::Prepared;
pub use parameters::{Parameter, ParameterError, describe, pairs};

use access::{check_kernel, check_root};
use counters::Counters;
use object::{AttachedObject, LoadedObject};
use owner::World;
use program::RunningProgram;
use sysfs::SchedExt;

/// Longest wait for a detachment: the kernel changes the class of every task, which takes seconds
/// on a busy machine.
const DETACH_LIMIT: Duration = Duration::from_secs(30);

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
    Program(Box<RunningProgram>),
}

/// A scheduler that was made ready before it is wanted.
pub enum Ready {
    /// The kernel has checked the object; it is not in charge.
    Loaded(Loaded),
    /// The program runs, and its scheduler is in charge already: it cannot be kept from that.
    InCharge { spec: protocol::Scheduler, attachment: Attachment },
}

/// An object that the kernel has checked.
pub struct Loaded {
    spec: protocol::Scheduler,
    object: LoadedObject,
    sha256: String,
}

/// Has the kernel check the object of `spec`, or starts its program. None for the kernel's own.
///
/// # Errors
/// The errors of `attach`.
pub fn make_ready(spec: &protocol::Scheduler, stop: &Stop) -> Result<Option<Ready>, AttachError> {
    if let protocol::Scheduler::Program { .. } = spec {
        let attachment = attach(spec, None, stop)?;
        return Ok(Some(Ready::InCharge { spec: spec.clone(), attachment }));
    }
    Ok(load(spec)?.map(Ready::Loaded))
}

/// Has the kernel check the object of `spec`. None if it has none.
fn load(spec: &protocol::Scheduler) -> Result<Option<Loaded>, AttachError> {
    let (object, bytes) = match spec {
        protocol::Scheduler::Default | protocol::Scheduler::Program { .. } => return Ok(None),
        protocol::Scheduler::Builtin { name, parameters } => {
            let bytes = builtin::bytes(name)?;
            (load_object(name, bytes, parameters)?, Cow::Borrowed(bytes))
        }
        protocol::Scheduler::Object { path, parameters } => {
            let bytes = fs::read(path)
                .map_err(|error| AttachError::Unreadable { path: path.clone(), error })?;
            (load_object(&stem(path), &bytes, parameters)?, Cow::Owned(bytes))
        }
    };
    let sha256 = format!("{:x}", Sha256::digest(&bytes));
    Ok(Some(Loaded { spec: spec.clone(), object, sha256 }))
}

fn load_object(
    name: &str,
    bytes: &[u8],
    parameters: &BTreeMap<String, String>,
) -> Result<LoadedObject, AttachError> {
    let prepared = object::Prepared::open(name, bytes, parameters)?;
    check_kernel()?;
    check_root()?;
    prepared.load()
}

/// Puts the scheduler of `spec` in charge; uses what is `ready` if it is that scheduler and still
/// fits. Returns when it is in charge.
///
/// # Errors
/// The scheduler, its parameters or this kernel do not fit, of which parameters are refused before
/// anything is loaded; or a stop was requested while a program was waited for. Nothing stays
/// attached after an error.
pub fn attach(
    spec: &protocol::Scheduler,
    ready: Option<Ready>,
    stop: &Stop,
) -> Result<Attachment, AttachError> {
    let loaded = match ready {
        Some(Ready::InCharge { spec: own, attachment }) if own == *spec => return Ok(attachment),
        Some(Ready::InCharge { attachment, .. }) => {
            attachment.detach()?;
            None
        }
        Some(Ready::Loaded(loaded)) => Some(loaded),
        None => None,
    };
    let before = SchedExt::here().state()?;
    if !before.ops.is_empty() {
        return Err(AttachError::AlreadyAttached { ops: before.ops });
    }
    let loaded = loaded.filter(|loaded| loaded.spec == *spec && loaded.object.still_fits());
    let loaded = match loaded {
        None => load(spec)?,
        loaded => loaded,
    };
    if let Some(Loaded { object, sha256, .. }) = loaded {
        let object = object.attach()?;
        let (ops, enable_seq) = (object.ops_name().to_owned(), object.enable_seq());
        return Ok(Attachment { held: Held::Object(object), ops, sha256, enable_seq });
    }
    let protocol::Scheduler::Program { argv } = spec else {
        let (held, enable_seq) = (Held::Default, before.enable_seq);
        return Ok(Attachment { held, ops: String::new(), sha256: String::new(), enable_seq });
    };
    check_kernel()?;
    check_root()?;
    let world = World::here();
    let (program, state) = RunningProgram::start(argv, before.enable_seq, &world, stop)?;
    let (held, sha256) = (Held::Program(Box::new(program)), String::new());
    Ok(Attachment { held, ops: state.ops, sha256, enable_seq: state.enable_seq })
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

/// Describes an object file of the user's, as `builtins` does those inside this program.
///
/// # Errors
/// It cannot be read, or is not a scheduler.
pub fn describe_object(path: &Path) -> Result<Described, AttachError> {
    let bytes =
        fs::read(path).map_err(|error| AttachError::Unreadable { path: path.to_owned(), error })?;
    let prepared = object::Prepared::open(&stem(path), &bytes, &BTreeMap::new())?;
    Ok(Described { name: path.display().to_string(), description: prepared.description().clone() })
}

/// Shortens "dir/simple.bpf.o" to "simple".
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

impl Attachment {
    /// The number that the kernel gave to this attachment; for the default the number of the last
    /// one before.
    pub fn enable_seq(&self) -> u64 {
        self.enable_seq
    }

    /// The content of /sys/kernel/sched_ext/root/ops while this is in charge; empty for the
    /// default.
    pub fn ops_name(&self) -> &str {
        &self.ops
    }

    /// The SHA-256 of the object; empty for the default and for programs.
    pub fn object_sha256(&self) -> &str {
        &self.sha256
    }

    /// Gives the CPUs back to the kernel's own scheduler; returns when it has them, or when
    /// another scheduler has taken the place of this one. Returns what the scheduler has left if it
    /// was taken down before; otherwise, and for the default and programs, an empty record.
    ///
    /// # Errors
    /// The kernel or the program did not let go in time.
    pub fn detach(self) -> Result<Left, AttachError> {
        let now = sysfs::read();
        let taken_down = now.state != "enabled" || now.enable_seq != self.enable_seq;
        let (object, ended) = match self.held {
            Held::Default => return Ok(Left::default()),
            Held::Object(mut object) => {
                object.let_go();
                (Some(object).filter(|_| taken_down), Ok(()))
            }
            Held::Program(program) => (None, program.stop()),
        };
        let start = Instant::now();
        while self.enable_seq == sysfs::read().enable_seq && sysfs::read().state != "disabled" {
            if start.elapsed() > DETACH_LIMIT {
                return Err(AttachError::StillAttached { ops: self.ops });
            }
            std::thread::sleep(sysfs::POLL);
        }
        ended.map(|()| object.map(|object| object.left()).unwrap_or_default())
    }

    /// The scheduler's own counters; empty for the default and for programs.
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
