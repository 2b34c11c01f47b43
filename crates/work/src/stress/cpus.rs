// SPDX-License-Identifier: GPL-2.0-only
//! The CPUs that workers may use, and those that are switched off and on again.

use std::fs;
use std::io::{PipeWriter, Read, pipe};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use crate::process::spawn_survivor;

pub struct Cpus {
    online: Vec<usize>,
    switchable: Vec<usize>,
    guard: Option<Guard>,
}

/// A process that switches every CPU on again when this one has ended, however it ended.
struct Guard {
    process: Pid,
    /// The guard waits for the end of this pipe.
    line: PipeWriter,
}

impl Cpus {
    /// Finds the CPUs. With `hotplug` all but CPU 0 may be switched off, if the kernel permits it.
    pub fn find(hotplug: bool) -> Result<Self> {
        let set = sched_getaffinity(Pid::from_raw(0))?;
        let online: Vec<usize> =
            (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect();
        let switchable: Vec<usize> = online
            .iter()
            .copied()
            .filter(|&cpu| hotplug && cpu != 0 && switch(cpu).exists())
            .collect();
        ensure!(!hotplug || !switchable.is_empty(), "--hotplug: no CPU but 0 can be switched off");
        let guard = if hotplug { Some(Guard::start(&switchable)?) } else { None };
        Ok(Self { online, switchable, guard })
    }

    pub fn online(&self) -> &[usize] {
        &self.online
    }

    pub fn switchable(&self) -> usize {
        self.switchable.len()
    }

    /// The online CPUs that `bits` selects; all of them if it selects none.
    pub fn chosen(&self, bits: u64) -> Vec<usize> {
        let wanted = |index: usize| bits >> (index % 64) & 1 == 1;
        let chosen: Vec<usize> = self
            .online
            .iter()
            .enumerate()
            .filter(|(index, _)| wanted(*index))
            .map(|(_, &cpu)| cpu)
            .collect();
        if chosen.is_empty() { self.online.clone() } else { chosen }
    }

    /// Switches the nth switchable CPU off, or on again.
    pub fn toggle(&mut self, nth: usize) -> Result<()> {
        let cpu = self.switchable[nth];
        let is_online = self.online.contains(&cpu);
        set_online(cpu, !is_online)?;
        if is_online {
            self.online.retain(|&other| other != cpu);
        } else {
            self.online.push(cpu);
        }
        Ok(())
    }

    /// Puts all of them back online.
    ///
    /// # Errors
    /// A CPU is still off; the message names it.
    pub fn restore(mut self) -> Result<()> {
        self.guard.take().map_or(Ok(()), Guard::end)?;
        for &cpu in &self.switchable {
            ensure!(
                fs::read_to_string(switch(cpu))?.trim() == "1",
                "CPU {cpu} could not be put back online"
            );
        }
        Ok(())
    }
}

impl Guard {
    fn start(cpus: &[usize]) -> Result<Self> {
        let (mut reader, line) = pipe()?;
        let mut line = Some(line);
        let process = spawn_survivor(|| {
            line.take();
            let _ = reader.read(&mut [0]);
            cpus.iter().all(|&cpu| set_online(cpu, true).is_ok())
        })?;
        Ok(Self { process, line: line.context("the guard of the CPUs has no line")? })
    }

    fn end(self) -> Result<()> {
        drop(self.line);
        waitpid(self.process, None).context("the guard of the CPUs is gone")?;
        Ok(())
    }
}

fn set_online(cpu: usize, online: bool) -> Result<()> {
    fs::write(switch(cpu), if online { "1" } else { "0" })
        .with_context(|| format!("cannot switch CPU {cpu}"))
}

fn switch(cpu: usize) -> PathBuf {
    PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}/online"))
}
