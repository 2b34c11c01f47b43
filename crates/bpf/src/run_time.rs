// SPDX-License-Identifier: GPL-2.0-only
//! How long BPF programs have run, which the kernel counts while a process asks it to (bpf(2),
//! BPF_ENABLE_STATS; kernel/bpf/syscall.c, bpf_prog_get_stats).

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use libbpf_rs::libbpf_sys::{BPF_STATS_RUN_TIME, bpf_enable_stats};
use libbpf_rs::query::{ProgInfoIter, ProgramInfo};

use crate::struct_ops;

/// The kernel counts until this is dropped.
pub struct Counting {
    _held: OwnedFd,
}

impl Counting {
    /// # Errors
    /// The kernel is older than 5.8, or does not permit it.
    pub fn start() -> io::Result<Self> {
        // SAFETY: a plain system call, which makes a new file descriptor.
        let fd = unsafe { bpf_enable_stats(BPF_STATS_RUN_TIME) };
        if fd < 0 {
            return Err(io::Error::from_raw_os_error(-fd));
        }
        // SAFETY: the descriptor is new and has no other owner.
        Ok(Self { _held: unsafe { OwnedFd::from_raw_fd(fd) } })
    }
}

/// How long all programs of an object have run in total, and how often.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunTime {
    pub ns: u64,
    pub calls: u64,
}

impl RunTime {
    pub fn since(self, before: Self) -> Self {
        Self {
            ns: self.ns.saturating_sub(before.ns),
            calls: self.calls.saturating_sub(before.calls),
        }
    }
}

/// The time of the scheduler that is attached under `ops`; None if the kernel does not show its programs.
pub fn of_scheduler(ops: &str) -> Option<RunTime> {
    let one = struct_ops::program(ops).ok().flatten()?;
    let object = ProgInfoIter::default().find(|info| info.id == one)?.btf_id;
    Some(sum(|info| info.btf_id == object))
}

/// The time of the programs with these ids.
pub fn of_programs(ids: &[u32]) -> RunTime {
    sum(|info| ids.contains(&info.id))
}

fn sum(counted: impl Fn(&ProgramInfo) -> bool) -> RunTime {
    let counted = ProgInfoIter::default().filter(counted);
    counted.fold(RunTime::default(), |sum, info| RunTime {
        ns: sum.ns + info.run_time_ns,
        calls: sum.calls + info.run_cnt,
    })
}
