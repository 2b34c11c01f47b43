// SPDX-License-Identifier: GPL-2.0-only
//! Everything that an agent starts lives in a containment, which ends it with all that it has
//! started.
//!
//! A containment is a cgroup of its own; its members see mounts apart from the machine's, are started in a session of
//! their own without the agent's mask of signals, and end when the agent does (the leader at once, all others by the
//! next agent's sweep). A process that leaves the cgroup is found as a descendant, or later by its
//! environment (`strays`).

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

use crate::cgroup::{Cgroup, Purpose};
use crate::process::Process;
use crate::root::Root;
use crate::strays::{self, Stray};
use crate::{lifeline, mounts, stop};

/// A cgroup and its processes. Dropping it ends them and those that have left, and reports any that
/// could not be ended.
#[derive(Debug)]
pub struct Containment {
    cgroup: Cgroup,
    is_removed: bool,
}

impl Containment {
    /// # Errors
    /// This process may not make cgroups, or no cgroup v2 hierarchy is mounted.
    pub fn create(root: &Root, purpose: Purpose) -> Result<Self> {
        Self::around(Cgroup::create(root, purpose)?)
    }

    /// Creates one inside this one, under its limits.
    ///
    /// # Errors
    /// This one is gone.
    pub fn create_nested(&self, purpose: Purpose) -> Result<Self> {
        Self::around(self.cgroup.create_nested(purpose)?)
    }

    fn around(cgroup: Cgroup) -> Result<Self> {
        let created = Self { cgroup, is_removed: false };
        strays::adopt_orphans()?;
        mounts::keep_apart()?;
        Ok(created)
    }

    pub fn cgroup(&self) -> &Cgroup {
        &self.cgroup
    }

    /// Starts `command` inside. What it has used when it comes in is not part of [`Ended::cpu`]:
    /// that may be much in a guest whose host is busy.
    ///
    /// [`Ended::cpu`]: crate::process::Ended::cpu
    ///
    /// # Errors
    /// The same as for [`Command::spawn`].
    pub fn spawn(&self, command: &mut Command) -> io::Result<Process> {
        let mut procs = self.cgroup.procs()?;
        let (mut reader, mut writer) = io::pipe()?;
        command.env(strays::MARK, self.name());
        let agent = Pid::this();
        // Only async-signal-safe calls: between fork and exec other threads' locks may be held.
        let enter = move || -> io::Result<()> {
            stop::unblock_signals()?;
            procs.write_all(b"0")?;
            let used: Duration = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into();
            let nanos = u64::try_from(used.as_nanos()).unwrap_or(u64::MAX);
            writer.write_all(&nanos.to_ne_bytes())?;
            rustix::process::setsid()?;
            lifeline::bind(agent, Signal::SIGKILL)
        };
        // SAFETY: `enter` keeps to async-signal-safe calls.
        unsafe { command.pre_exec(enter) };
        let mut process = Process::spawn(command)?;
        let mut nanos = [0; size_of::<u64>()];
        reader.read_exact(&mut nanos)?;
        process.leave_out(Duration::from_nanos(u64::from_ne_bytes(nanos)));
        Ok(process)
    }

    /// Whether the leader, which may have ended but not been waited for, is still inside.
    pub fn holds(&self, leader: &Process) -> bool {
        strays::is_within(leader.id(), &self.name())
    }

    fn name(&self) -> String {
        self.cgroup.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Ends the processes that have left, and returns them.
    ///
    /// # Errors
    /// A process cannot be killed.
    pub fn end_strays(&self) -> Result<BTreeSet<Stray>> {
        strays::end(&self.name())
    }

    /// Ends all processes inside, and those that have left since `end_strays`.
    ///
    /// # Errors
    /// A process cannot be ended within 5 s, or one had left.
    pub fn end(mut self) -> Result<()> {
        self.is_removed = true;
        self.clear()
    }

    fn clear(&self) -> Result<()> {
        self.cgroup.remove()?;
        let strays: Vec<_> = self.end_strays()?.iter().map(Stray::to_string).collect();
        ensure!(
            strays.is_empty(),
            "{} had left its control group and was killed",
            strays.join(", ")
        );
        Ok(())
    }
}

impl Drop for Containment {
    fn drop(&mut self) {
        if !self.is_removed
            && let Err(error) = self.clear()
        {
            eprintln!("runoff-agent: {error:#}");
        }
    }
}
