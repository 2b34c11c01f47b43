// SPDX-License-Identifier: GPL-2.0-only
//! Shows the counters of a scheduler: one that is kept attached for a user, or one that runs
//! already.
//!
//! The first line of the output describes the counters, every later one is a reading. When a
//! scheduler is attached, lines before that list the control groups with limits of CPU time, which
//! our schedulers ignore, and the number of tasks above which the chosen turns make one starve.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::json;

use super::access::reachable;
use super::counters::Counters;
use super::error::{self, AttachError};
use super::kernel_log::KernelLog;
use super::running::Running;
use super::turns::{self, LongTurn};
use super::{attach, builtin, parameters, sysfs};
use bpf::topology;
use machine::cpu_limits;
use machine::root::Root;
use machine::stop::Stop;
use protocol::Scheduler;

const INTERVAL_MS: u16 = 1000;

/// How a scheduler's counters are written to `out`.
pub struct Reader<'a> {
    pub per_cpu: bool,
    /// The thread to read the counters of, instead of all CPUs.
    pub task: Option<u32>,
    pub out: &'a mut dyn Write,
}

/// Attaches `scheduler` until SIGINT or SIGTERM and reads its counters once a second. Returns
/// failure, with the kernel's reason on standard error, if the scheduler loses its place earlier.
///
/// # Errors
/// The scheduler cannot be attached, read or detached, or nobody reads the output.
pub fn attach_until_signal(scheduler: &Scheduler, reader: &mut Reader<'_>) -> Result<ExitCode> {
    let stop = Stop::new()?;
    let mut kernel_log = KernelLog::open();
    let attachment = attach(scheduler, None, &stop)?;
    let (name, counters) = (attachment.ops_name().to_owned(), attachment.counters()?);
    let limited = cpu_limits::groups(&Root::machine()).unwrap_or_default();
    let long_turn = long_turn(scheduler)?;
    reader.line(&json!({"scheduler": name, "limited_groups": limited, "long_turn": long_turn}))?;
    if reader.follow(&name, &counters, attachment.enable_seq(), &stop)? {
        attachment.detach()?;
        return Ok(ExitCode::SUCCESS);
    }
    // The kernel gives its reason when it is done.
    let left = attachment.detach()?;
    eprintln!("{name} is no longer in charge, {} is; the kernel says why:", in_charge());
    match &left.exit {
        Some(exit) => eprintln!("{exit}"),
        None => kernel_log.sched_ext().iter().for_each(|line| eprintln!("{line}")),
    }
    eprintln!("{}", left.log());
    Ok(ExitCode::FAILURE)
}

/// The long turn of one of our schedulers; what others do for starving tasks is not known.
fn long_turn(scheduler: &Scheduler) -> Result<Option<LongTurn>, AttachError> {
    let Scheduler::Builtin { name, parameters: given } = scheduler else { return Ok(None) };
    let known = &builtin::find(name)?.description.parameters;
    let chosen = parameters::choose(name, known, given)
        .map_err(|error| AttachError::BadParameter { scheduler: name.clone(), error })?;
    Ok(turns::long(known, &chosen, topology::tick()))
}

fn in_charge() -> String {
    error::in_charge(&sysfs::read().ops)
}

/// Reads the counters of the running scheduler `name`, once or once a second until SIGINT or
/// SIGTERM. Returns failure if it is detached earlier.
///
/// # Errors
/// `NotAttached`, `Foreign` or `Unreachable`, or nobody reads the output.
pub fn read_running(name: &str, follow: bool, reader: &mut Reader<'_>) -> Result<ExitCode> {
    let stop = Stop::new()?;
    reachable(name)?;
    let seq = sysfs::read().enable_seq;
    let running = Running::find(name)?;
    let counters = match reader.task {
        Some(tid) => running.task_counters(tid)?,
        None => running.counters()?,
    };
    let ours = builtin::find(name).is_ok_and(|ours| !ours.description.statistics.is_empty());
    if ours && counters.statistics.is_empty() {
        return Err(AttachError::Foreign { name: name.into(), what: "counters" }.into());
    }
    if !follow {
        reader.describe(name, &counters)?;
        reader.read(name, &counters, Instant::now())?;
        return Ok(ExitCode::SUCCESS);
    }
    if reader.follow(name, &counters, seq, &stop)? {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{name} is no longer in charge, {} is", in_charge());
    Ok(ExitCode::FAILURE)
}

impl Reader<'_> {
    /// Prints readings until a signal (true) or the end of the attachment `enable_seq` (false).
    fn follow(
        &mut self,
        name: &str,
        counters: &Counters,
        enable_seq: u64,
        stop: &Stop,
    ) -> Result<bool> {
        self.describe(name, counters)?;
        let start = Instant::now();
        loop {
            let state = sysfs::read();
            if state.state != "enabled" || state.enable_seq != enable_seq {
                return Ok(false);
            }
            self.read(name, counters, start)?;
            let mut waiting = [PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
            if poll(&mut waiting, PollTimeout::from(INTERVAL_MS))? > 0 {
                return Ok(true);
            }
        }
    }

    fn describe(&mut self, name: &str, counters: &Counters) -> Result<()> {
        self.line(&json!({"scheduler": name, "statistics": counters.statistics}))
    }

    fn read(&mut self, name: &str, counters: &Counters, start: Instant) -> Result<()> {
        let reading = counters.read()?;
        let elapsed_s = start.elapsed().as_secs_f64();
        let mut line =
            json!({"scheduler": name, "elapsed_s": elapsed_s, "counters": reading.totals()});
        if self.per_cpu {
            line["per_cpu"] = reading.per_cpu();
        }
        self.line(&line)
    }

    fn line(&mut self, line: &serde_json::Value) -> Result<()> {
        writeln!(self.out, "{line}")?;
        Ok(self.out.flush()?)
    }
}
