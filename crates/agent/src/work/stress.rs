// SPDX-License-Identifier: GPL-2.0-only
//! Mixed stress: does a scheduler lose, forget or forbid anything that programs may do?

mod board;
mod choices;
mod cpus;
mod crew;
mod worker;

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;
use nix::errno::Errno;
use nix::libc;
use nix::sys::prctl;
use nix::unistd::geteuid;
use serde::Serialize;

use crate::stop::Stop;
use crate::work::process::now;
use choices::{Action, Choices};
use cpus::Cpus;
use crew::Crew;

#[derive(Debug, Args)]
pub struct Stress {
    /// How long it lasts
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Of all choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also switch CPUs off and on, all but CPU 0; they are all on at the end
    #[arg(long)]
    hotplug: bool,
}

/// What was done, and what became of it.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    elapsed_s: f64,
    workers: usize,
    forks: u64,
    affinity_changes: u64,
    nice_changes: u64,
    policy_changes: u64,
    stops: u64,
    hotplugs: u64,
    /// Steps of the workers by what they are.
    yields: u64,
    naps: u64,
    messages: u64,
    /// The longest time a worker that could run did not.
    longest_wait_ms: f64,
    longest_wait_of: String,
    /// Children that ended otherwise than they should.
    lost: u64,
    /// Children that did not end when all was over.
    unfinished: u64,
}

/// Children need a CPU to end; a kernel's watchdog would have spoken long before.
const END_LIMIT: Duration = Duration::from_secs(60);

/// Who asks to stop waits for it.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// Storms at a time: enough to overlap, few enough that workers are not drowned.
const MOST_STORMS: usize = 4;

impl Stress {
    /// Disturbs until the time is over or a signal asks to stop, then ends and reaps everything.
    ///
    /// # Errors
    /// Something could not be done that every scheduler must allow.
    pub fn run(&self) -> Result<ExitCode> {
        ensure!(self.seconds > 0.0 && self.seconds.is_finite(), "--seconds must be positive");
        ensure!(
            geteuid().is_root(),
            "stress changes the nice values and policies of its workers: run it as root"
        );
        let stop = Stop::new()?;
        // What a storm leaves behind when it is killed comes here and is reaped.
        prctl::set_child_subreaper(true)?;
        let mut cpus = Cpus::find(self.hotplug)?;
        act_in_time()?;
        let mut crew = Crew::hire(cpus.count(), self.seed)?;
        let begin = now();
        let mut report = Report { workers: crew.workers(), ..Report::default() };
        let disturbed = self.disturb(begin, &stop, &mut cpus, &mut crew, &mut report);
        let stopped = stop.requested();
        crew.end(if stopped { STOP_LIMIT } else { END_LIMIT });
        cpus.restore()?;
        crew.reap_orphans();
        disturbed?;
        crew.tell(&mut report);
        report.elapsed_s = (now() - begin).as_secs_f64();
        println!("{}", serde_json::to_string(&report)?);
        ensure!(!stopped, "stopped by a signal before its time");
        ensure!(
            report.lost == 0,
            "{} of its children ended otherwise than they should",
            report.lost
        );
        ensure!(
            report.unfinished == 0,
            "{} of its children did not end within {} s",
            report.unfinished,
            END_LIMIT.as_secs()
        );
        Ok(ExitCode::SUCCESS)
    }

    fn disturb(
        &self,
        begin: Duration,
        stop: &Stop,
        cpus: &mut Cpus,
        crew: &mut Crew,
        report: &mut Report,
    ) -> Result<()> {
        let mut choices = Choices::new(self.seed, crew.workers(), cpus.switchable());
        let end = begin + Duration::from_secs_f64(self.seconds);
        while now() < end && !stop.requested() {
            let (action, pause) = choices.next();
            act(action, cpus, crew, report)?;
            crew.look();
            sleep(pause);
        }
        Ok(())
    }
}

fn act(action: Action, cpus: &mut Cpus, crew: &mut Crew, report: &mut Report) -> Result<()> {
    match action {
        Action::Affinity { worker, bits } => {
            crew.set_affinity(worker, &cpus.chosen(bits)?)?;
            report.affinity_changes += 1;
        }
        Action::Nice { worker, nice } => {
            crew.set_nice(worker, nice)?;
            report.nice_changes += 1;
        }
        Action::Policy { worker, policy } => {
            crew.set_policy(worker, policy)?;
            report.policy_changes += 1;
        }
        Action::Stop { worker } => report.stops += u64::from(crew.stop_or_resume(worker)?),
        Action::Storm { children, seed } => {
            if crew.storms() < MOST_STORMS {
                crew.start_storm(children, seed)?;
                report.forks += 1 + children;
            }
        }
        Action::Hotplug { cpu } => {
            cpus.toggle(cpu)?;
            report.hotplugs += 1;
        }
    }
    Ok(())
}

/// The one who disturbs must not wait for the scheduler that is disturbed; its children begin as normal tasks.
fn act_in_time() -> Result<()> {
    let parameter = libc::sched_param { sched_priority: 1 };
    // SAFETY: a plain system call on this process.
    let result = unsafe {
        libc::sched_setscheduler(
            0,
            libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
            &raw const parameter,
        )
    };
    Errno::result(result)?;
    Ok(())
}
