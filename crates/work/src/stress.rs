// SPDX-License-Identifier: GPL-2.0-only
//! Mixed stress: does a scheduler lose, forget or forbid anything that programs may do?

mod board;
mod choices;
mod cpus;
mod crew;
mod figures;
mod groups;
mod storm;
mod worker;

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use nix::sys::prctl;
use nix::unistd::geteuid;

use crate::usage::length;
use choices::{Action, Choices};
use cpus::Cpus;
use crew::Crew;
use figures::Figures;
use groups::Groups;
use machine::clock::now;
use machine::output;
use machine::sched::{Policy, THIS_THREAD, set_policy};
use machine::stop::Stop;

#[derive(Debug, Args)]
pub struct Stress {
    /// How long it lasts
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = length)]
    seconds: Duration,
    /// Seed of all choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also switch CPUs off and on, all but CPU 0; they are all on at the end
    #[arg(long)]
    hotplug: bool,
    /// Also move workers between control groups, whose quotas and weights change
    #[arg(long)]
    groups: bool,
    /// Also this many processes that all want to run for a moment once a second; nine of ten may use one CPU only
    #[arg(long, value_name = "PROCESSES", default_value_t = 0,
          value_parser = clap::value_parser!(u16).range(..=3000))]
    crowd: u16,
}

/// Longest wait for children, which need a CPU to end; a kernel's watchdog would have acted long
/// before.
const END_LIMIT: Duration = Duration::from_secs(60);

/// Longest wait for children after a request to stop, which has to be followed within a second.
const STOP_LIMIT: Duration = Duration::from_millis(500);

/// Most storms at a time: enough to overlap, few enough that workers still run.
const MOST_STORMS: usize = 4;

impl Stress {
    /// Disturbs until the time is over or a signal asks to stop, then ends and reaps everything.
    ///
    /// # Errors
    /// A step failed that every scheduler must allow.
    pub fn run(&self) -> Result<ExitCode> {
        ensure!(
            geteuid().is_root(),
            "stress changes the nice values and policies of its workers: run it as root"
        );
        let stop = Stop::new()?;
        // Children of a killed storm become children of this process, which reaps them.
        prctl::set_child_subreaper(true)?;
        let groups = if self.groups { Groups::make()? } else { Groups::default() };
        let mut cpus = Cpus::find(self.hotplug)?;
        act_in_time()?;
        let mut crew = Crew::new()?;
        let crowd = usize::from(self.crowd);
        let hired = crew
            .hire(cpus.online().len(), self.seed)
            .and_then(|()| crew.invite(crowd, cpus.online()));
        let begin = now();
        let mut report = Figures { workers: crew.workers(), crowd, ..Figures::default() };
        let mut stage = Stage { cpus: &mut cpus, groups: &groups, crew: &mut crew };
        let disturbed = hired.and_then(|()| self.disturb(begin, &stop, &mut stage, &mut report));
        let stopped = stop.requested();
        crew.end(if stopped { STOP_LIMIT } else { END_LIMIT });
        cpus.restore()?;
        crew.reap_orphans();
        disturbed.and_then(|()| crew.require_room())?;
        crew.tell(&mut report);
        report.elapsed_s = (now() - begin).as_secs_f64();
        output::json(&report)?;
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
        stage: &mut Stage<'_>,
        report: &mut Figures,
    ) -> Result<()> {
        let mut choices = Choices::new(
            self.seed,
            stage.crew.workers(),
            stage.cpus.switchable(),
            stage.groups.count(),
        );
        let end = begin + self.seconds;
        while now() < end && !stop.requested() {
            let (action, pause) = choices.next();
            stage.act(action, report)?;
            stage.crew.look();
            stage.crew.require_room()?;
            sleep(pause);
        }
        Ok(())
    }
}

/// The CPUs, workers and groups that are disturbed.
struct Stage<'a> {
    cpus: &'a mut Cpus,
    groups: &'a Groups,
    crew: &'a mut Crew,
}

impl Stage<'_> {
    fn act(&mut self, action: Action, report: &mut Figures) -> Result<()> {
        let Self { cpus, groups, crew } = self;
        match action {
            Action::Affinity { worker, bits } => {
                crew.bind(worker, &cpus.chosen(bits))?;
                report.affinity_changes += 1;
            }
            Action::Nice { worker, nice } => {
                crew.set_nice(worker, nice)?;
                report.nice_changes += 1;
            }
            Action::NiceStorm { seed } => {
                crew.set_all_nice(seed)?;
                report.nice_changes += crew.workers() as u64;
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
            Action::Group { worker, group } => {
                crew.join(worker, groups, group)?;
                report.group_changes += 1;
            }
            Action::Limit { group, choice } => {
                groups.limit(group, choice)?;
                report.group_changes += 1;
            }
        }
        Ok(())
    }
}

/// Makes this process real-time, because it must not wait for the scheduler that it disturbs; its
/// children begin as normal tasks.
fn act_in_time() -> Result<()> {
    // Above the real-time tasks of storms, too.
    set_policy(THIS_THREAD, Policy::Fifo { priority: 2, reset_on_fork: true })
        .context("cannot become a real-time process")
}
