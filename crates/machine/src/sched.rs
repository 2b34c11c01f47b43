// SPDX-License-Identifier: GPL-2.0-only
//! Scheduling settings of a thread: sched(7).

use std::fmt;
use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread, and not all of its process.
pub const THIS_THREAD: Pid = Pid::from_raw(0);

/// A scheduling policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Normal,
    Batch,
    Idle,
    Fifo {
        /// 1 to 99.
        priority: u8,
        /// Children begin as normal threads.
        reset_on_fork: bool,
    },
    RoundRobin {
        /// 1 to 99.
        priority: u8,
    },
}

impl Policy {
    /// The kernel's number.
    pub fn number(self) -> i32 {
        match self {
            Self::Normal => libc::SCHED_OTHER,
            Self::Batch => libc::SCHED_BATCH,
            Self::Idle => libc::SCHED_IDLE,
            Self::Fifo { .. } => libc::SCHED_FIFO,
            Self::RoundRobin { .. } => libc::SCHED_RR,
        }
    }

    fn priority(self) -> u8 {
        match self {
            Self::Normal | Self::Batch | Self::Idle => 0,
            Self::Fifo { priority, .. } | Self::RoundRobin { priority } => priority,
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => write!(out, "normal"),
            Self::Batch => write!(out, "batch"),
            Self::Idle => write!(out, "idle"),
            Self::Fifo { priority, .. } => write!(out, "fifo:{priority}"),
            Self::RoundRobin { priority } => write!(out, "rr:{priority}"),
        }
    }
}

/// How a process is to begin; what is None stays as it is with its parent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scheduling {
    pub nice: Option<i8>,
    pub policy: Option<Policy>,
}

impl Scheduling {
    /// Takes effect for the calling thread. Allocates nothing, so that it can be called between fork
    /// and exec.
    ///
    /// # Errors
    /// The values need more rights.
    pub fn apply(self) -> io::Result<()> {
        self.nice.map_or(Ok(()), |nice| set_nice(THIS_THREAD, nice))?;
        self.policy.map_or(Ok(()), |policy| set_policy(THIS_THREAD, policy))
    }
}

/// sched_setscheduler(2); the nice value stays.
///
/// # Errors
/// There is no such thread, it belongs to another user, or the policy needs more rights.
pub fn set_policy(thread: Pid, policy: Policy) -> io::Result<()> {
    let resets = matches!(policy, Policy::Fifo { reset_on_fork: true, .. });
    let number = policy.number() | if resets { libc::SCHED_RESET_ON_FORK } else { 0 };
    let parameter = libc::sched_param { sched_priority: policy.priority().into() };
    // SAFETY: the parameter outlives the call.
    let result = unsafe { libc::sched_setscheduler(thread.as_raw(), number, &raw const parameter) };
    Ok(Errno::result(result).map(drop)?)
}

/// setpriority(2) for a thread, -20 to 19; values beyond are limited to these.
///
/// # Errors
/// There is no such thread, it belongs to another user, or the value needs more rights.
pub fn set_nice(thread: Pid, nice: i8) -> io::Result<()> {
    let thread = rustix::process::Pid::from_raw(thread.as_raw());
    Ok(rustix::process::setpriority_process(thread, nice.into())?)
}

/// sched_setaffinity(2): the thread runs on these CPUs only.
///
/// # Errors
/// There is no such thread, it belongs to another user, or none of the CPUs exists and is online.
pub fn use_only(thread: Pid, cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu)?;
    }
    Ok(sched_setaffinity(thread, &set)?)
}

/// The nice value of the calling thread.
///
/// # Errors
/// None that is known.
pub fn nice() -> io::Result<i32> {
    Ok(rustix::process::getpriority_process(None)?)
}

/// Asks for this slice for the calling thread, which becomes SCHED_OTHER and keeps its nice value:
/// since Linux 6.12 sched_setattr(2) takes the runtime of a thread that is not SCHED_DEADLINE as
/// its slice.
///
/// # Errors
/// The kernel has no sched_setattr, or the thread may not leave its policy.
pub fn set_slice(slice: Duration) -> io::Result<()> {
    let too_much = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let attributes = libc::sched_attr {
        #[expect(clippy::cast_possible_truncation, reason = "a struct of some bytes")]
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER.cast_unsigned(),
        sched_flags: 0,
        sched_nice: nice()?,
        sched_priority: 0,
        sched_runtime: u64::try_from(slice.as_nanos()).map_err(too_much)?,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the attributes have the size that they state and outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    Ok(Errno::result(result).map(drop)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use nix::sched::sched_getaffinity;
    use nix::unistd::{geteuid, gettid};

    use super::*;

    /// Fields 18, 19 and 41 of proc_pid_stat(5).
    fn seen(tid: Pid) -> (i32, i32, i32) {
        let stat = fs::read_to_string(format!("/proc/self/task/{tid}/stat")).unwrap();
        let after_name: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        let field = |number: usize| after_name[number - 3].parse().unwrap();
        (field(18), field(19), field(41))
    }

    /// Runs `work` in a thread of its own: other threads of the tests must not keep what a test
    /// sets.
    fn in_a_thread(work: impl FnOnce() + Send + 'static) {
        thread::spawn(work).join().unwrap();
    }

    #[test]
    fn a_thread_gets_its_nice_value_and_policy_alone() {
        let before = seen(gettid());
        in_a_thread(|| {
            set_nice(THIS_THREAD, 7).unwrap();
            set_policy(THIS_THREAD, Policy::Batch).unwrap();
            assert_eq!((nice().unwrap(), seen(gettid())), (7, (27, 7, libc::SCHED_BATCH)));
            set_policy(gettid(), Policy::Idle).unwrap();
            assert_eq!(seen(gettid()), (27, 7, libc::SCHED_IDLE));
        });
        assert_eq!(seen(gettid()), before);
    }

    #[test]
    fn a_thread_is_bound_to_cpus_that_are_there_alone() {
        in_a_thread(|| {
            let there = sched_getaffinity(THIS_THREAD).unwrap();
            let one = (0..CpuSet::count()).find(|&cpu| there.is_set(cpu).unwrap()).unwrap();
            use_only(THIS_THREAD, &[one]).unwrap();
            let mut only = CpuSet::new();
            only.set(one).unwrap();
            assert_eq!(sched_getaffinity(THIS_THREAD).unwrap(), only);
            let none = io::ErrorKind::InvalidInput;
            assert_eq!(use_only(THIS_THREAD, &[]).unwrap_err().kind(), none);
            assert_eq!(use_only(THIS_THREAD, &[CpuSet::count()]).unwrap_err().kind(), none);
        });
    }

    #[test]
    fn a_slice_keeps_the_nice_value() {
        in_a_thread(|| {
            set_nice(THIS_THREAD, 3).unwrap();
            set_slice(Duration::from_millis(5)).unwrap();
            assert_eq!(seen(gettid()), (23, 3, libc::SCHED_OTHER));
        });
        assert_eq!(set_slice(Duration::MAX).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn real_time_is_not_inherited_unless_asked_for() {
        if !geteuid().is_root() {
            eprintln!("not tested: it needs root");
            return;
        }
        for reset_on_fork in [false, true] {
            in_a_thread(move || {
                set_policy(THIS_THREAD, Policy::Fifo { priority: 1, reset_on_fork }).unwrap();
                // The kernel counts real-time priorities from -2 down.
                let (priority, _, policy) = seen(gettid());
                assert_eq!((priority, policy), (-2, libc::SCHED_FIFO));
                let policy = if reset_on_fork { libc::SCHED_OTHER } else { libc::SCHED_FIFO };
                in_a_thread(move || assert_eq!(seen(gettid()).2, policy));
            });
        }
    }

    #[test]
    fn a_thread_that_does_not_exist_is_an_error() {
        let nobody = Pid::from_raw(i32::MAX);
        assert_eq!(set_nice(nobody, 0).unwrap_err().raw_os_error(), Some(libc::ESRCH));
        let error = set_policy(nobody, Policy::Normal).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ESRCH));
    }
}
