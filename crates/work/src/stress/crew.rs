// SPDX-License-Identifier: GPL-2.0-only
//! The children: workers that run from beginning to end, and storms in between.

use std::io::{self, pipe};
use std::sync::atomic::Ordering::SeqCst;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::board::{Board, MOST_WORKERS, Slot};
use super::choices::nice_values;
use super::figures::Figures;
use super::groups::Groups;
use super::storm::storm;
use super::worker::{self, Kind, Racket, now_ns};
use crate::process::Child;
use crate::shared::Shared;
use crate::start::refused;
use machine::clock::now;
use machine::sched::{self, Policy};

/// Workers of each CPU: hogs, a yielder, a sleeper and players.
const WORKERS_A_CPU: usize = 6;

struct Member {
    process: Pid,
    kind: Kind,
    nice: i8,
    policy: Policy,
    stopped: bool,
    alive: bool,
}

/// The longest wait, and its worker.
#[derive(Default)]
struct Longest {
    ns: u64,
    of: String,
}

impl Longest {
    fn compare(&mut self, ns: u64, worker: &Member) {
        if ns > self.ns {
            *self = Self { ns, of: worker.describe() };
        }
    }

    fn ms(&self) -> f64 {
        Duration::from_nanos(self.ns).as_secs_f64() * 1e3
    }
}

pub struct Crew {
    board: &'static Board,
    workers: Vec<Member>,
    storms: Vec<Pid>,
    longest: Longest,
    longest_normal: Longest,
    lost: u64,
    unfinished: u64,
}

impl Crew {
    pub fn new() -> Result<Self> {
        Ok(Self {
            board: Board::create()?,
            workers: Vec::new(),
            storms: Vec::new(),
            longest: Longest::default(),
            longest_normal: Longest::default(),
            lost: 0,
            unfinished: 0,
        })
    }

    /// Starts two hogs, a yielder, a sleeper and two players for every CPU. Workers that were
    /// started before an error go on until `end`.
    pub fn hire(&mut self, cpus: usize, seed: u64) -> Result<()> {
        let wanted = cpus * WORKERS_A_CPU;
        ensure!(wanted <= MOST_WORKERS, "more CPUs than {MOST_WORKERS} workers can keep busy");
        for cpu in 0..cpus {
            let hired = self.hire_for_a_cpu(seed ^ cpu as u64);
            let which = || format!("process {} of {wanted}", self.workers.len() + 1);
            hired.map_err(|error| refused(&which(), &error))?;
        }
        Ok(())
    }

    fn hire_for_a_cpu(&mut self, seed: u64) -> Result<()> {
        self.hire_one(Kind::Hog, worker::hog)?;
        self.hire_one(Kind::Hog, worker::hog)?;
        self.hire_one(Kind::Yielder, worker::yielder)?;
        self.hire_one(Kind::Sleeper, |board, slot| worker::sleeper(board, slot, seed))?;
        self.hire_players()
    }

    fn hire_one(
        &mut self,
        kind: Kind,
        work: impl FnOnce(&'static Board, &'static Slot) -> bool,
    ) -> Result<()> {
        let board = self.board;
        let slot = &board.slots[self.workers.len()];
        slot.ready(now_ns());
        let process = Child::spawn(|| {
            slot.begin();
            work(board, slot)
        })?
        .release();
        let (nice, policy) = (0, Policy::Normal);
        self.workers.push(Member { process, kind, nice, policy, stopped: false, alive: true });
        Ok(())
    }

    /// Starts two players, which hold only their own ends of two pipes, so that each sees the end
    /// of the other.
    fn hire_players(&mut self) -> Result<()> {
        let first = self.workers.len();
        let ((from_a, to_b), (from_b, to_a)) = (pipe()?, pipe()?);
        let mut rackets =
            [Some(Racket { from: from_b, to: to_b }), Some(Racket { from: from_a, to: to_a })];
        for index in 0..2 {
            let rackets = &mut rackets;
            self.hire_one(Kind::Player, move |board, slot| {
                let own = rackets[index].take();
                rackets[1 - index].take();
                let other = &board.slots[first + 1 - index];
                own.is_some_and(|own| worker::player(board, slot, other, own, index == 0))
            })?;
        }
        Ok(())
    }

    /// Starts `visitors`, nine of ten bound to one of `cpus` each. They are not disturbed.
    pub fn invite(&mut self, visitors: usize, cpus: &[usize]) -> Result<()> {
        let wanted = self.workers.len() + visitors;
        ensure!(wanted <= MOST_WORKERS, "there can be {MOST_WORKERS} processes, not {wanted}");
        for (number, cpu) in (0..visitors).zip(cpus.iter().cycle()) {
            let invited = self.hire_one(Kind::Visitor, worker::visitor);
            let which = || format!("process {} of {wanted}", self.workers.len() + 1);
            invited.map_err(|error| refused(&which(), &error))?;
            if !number.is_multiple_of(10) {
                // Bound from here: when it first runs, that CPU may have been switched off.
                self.bind(self.workers.len() - 1, &[*cpu])?;
            }
        }
        Ok(())
    }

    pub fn workers(&self) -> usize {
        self.workers.len() - self.of(Kind::Visitor).count()
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = (&Member, &Slot)> {
        let all = self.workers.iter().zip(&self.board.slots);
        all.filter(move |(worker, _)| worker.kind == kind)
    }

    pub fn storms(&self) -> usize {
        self.storms.len()
    }

    pub fn bind(&mut self, worker: usize, cpus: &[usize]) -> Result<()> {
        allowed(sched::use_only(self.workers[worker].process, cpus), "bind a worker to CPUs")
    }

    pub fn set_nice(&mut self, worker: usize, nice: i8) -> Result<()> {
        let worker = &mut self.workers[worker];
        worker.nice = nice;
        allowed(sched::set_nice(worker.process, nice), "change a worker's nice value")
    }

    pub fn set_policy(&mut self, worker: usize, policy: Policy) -> Result<()> {
        let slot = &self.board.slots[worker];
        let worker = &mut self.workers[worker];
        slot.change_policy(policy == Policy::Normal, now_ns());
        worker.policy = policy;
        allowed(sched::set_policy(worker.process, policy), "change a worker's policy")
    }

    /// Gives each worker a nice value by `seed`.
    pub fn set_all_nice(&mut self, seed: u64) -> Result<()> {
        let workers = 0..self.workers();
        workers.zip(nice_values(seed)).try_for_each(|(worker, nice)| self.set_nice(worker, nice))
    }

    pub fn join(&mut self, worker: usize, groups: &Groups, group: usize) -> Result<()> {
        let joined = groups.join(self.workers[worker].process, group);
        allowed(joined, "move a worker to a control group")
    }

    /// Stops a worker (returns true) or lets a stopped one go on (false). One that has not begun is
    /// left alone: stopped then, it would outlive this process.
    pub fn stop_or_resume(&mut self, worker: usize) -> Result<bool> {
        let slot = &self.board.slots[worker];
        let worker = &mut self.workers[worker];
        if !slot.has_begun() {
            return Ok(false);
        }
        worker.stopped = !worker.stopped;
        let signal = if worker.stopped {
            slot.stop(now_ns());
            Signal::SIGSTOP
        } else {
            slot.resume(now_ns());
            Signal::SIGCONT
        };
        allowed(kill(worker.process, signal), "stop a worker")?;
        Ok(worker.stopped)
    }

    pub fn start_storm(&mut self, children: u64, seed: u64) -> Result<()> {
        let board = self.board;
        let storm = Child::spawn(|| storm(board, children, seed))
            .map_err(|error| refused("another process", &error.into()))?;
        self.storms.push(storm.release());
        Ok(())
    }

    /// # Errors
    /// A storm could not start one of its processes, which is not the scheduler's fault.
    pub fn require_room(&self) -> Result<()> {
        match self.board.refusal() {
            Some(error) => Err(refused("another process", &error.into())),
            None => Ok(()),
        }
    }

    /// Reaps ended children, and checks how long the others have been waiting.
    pub fn look(&mut self) {
        self.reap();
        let now = now_ns();
        for (worker, slot) in self.workers.iter().zip(&self.board.slots) {
            if worker.alive {
                slot.note(now);
            }
            self.longest.compare(slot.longest_ns(), worker);
            self.longest_normal.compare(slot.longest_normal_ns(), worker);
        }
    }

    /// Reaps ended children; returns true while there are others.
    fn reap(&mut self) -> bool {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => return true,
                Ok(WaitStatus::Exited(process, status)) => self.note_end(process, status == 0),
                Ok(WaitStatus::Signaled(process, ..)) => self.note_end(process, false),
                Ok(_) => {}
                Err(_) => {
                    self.miss_all();
                    return false;
                }
            }
        }
    }

    fn note_end(&mut self, process: Pid, well: bool) {
        if let Some(index) = self.storms.iter().position(|&storm| storm == process) {
            self.storms.swap_remove(index);
            self.lost += u64::from(!well);
        } else if let Some(worker) = self.workers.iter_mut().find(|other| other.process == process)
        {
            worker.alive = false;
            self.lost += u64::from(!well || !self.board.is_over());
        }
    }

    /// The kernel has no child of ours any more, so those that we still wait for are lost.
    fn miss_all(&mut self) {
        self.lost += self.left() as u64;
        self.storms.clear();
        self.workers.iter_mut().for_each(|worker| worker.alive = false);
    }

    fn left(&self) -> usize {
        self.storms.len() + self.workers.iter().filter(|worker| worker.alive).count()
    }

    /// Lets all children end; those that have not within `limit` are killed.
    pub fn end(&mut self, limit: Duration) {
        self.look();
        self.board.over.store(true, SeqCst);
        for worker in self.workers.iter().filter(|worker| worker.alive) {
            let _ = kill(worker.process, Signal::SIGCONT);
        }
        if !self.all_gone_within(limit) {
            self.unfinished = self.left() as u64;
            for process in self.processes() {
                let _ = kill(process, Signal::SIGKILL);
            }
            let lost = self.lost;
            self.all_gone_within(KILL_LIMIT);
            // Killed children were counted as unfinished already.
            self.lost = lost;
        }
    }

    fn all_gone_within(&mut self, limit: Duration) -> bool {
        let end = now() + limit;
        while self.left() > 0 {
            self.reap();
            if now() >= end {
                return self.left() == 0;
            }
            sleep(Duration::from_millis(5));
        }
        true
    }

    /// Reaps the children of killed storms, which are now this process's own; called when no other
    /// child is left.
    pub fn reap_orphans(&mut self) {
        let end = now() + KILL_LIMIT;
        while self.reap() && now() < end {
            sleep(Duration::from_millis(5));
        }
    }

    fn processes(&self) -> Vec<Pid> {
        let workers =
            self.workers.iter().filter(|worker| worker.alive).map(|worker| worker.process);
        workers.chain(self.storms.iter().copied()).collect()
    }

    pub fn tell(&self, report: &mut Figures) {
        let steps = |kind| self.of(kind).map(|(_, slot)| slot.steps()).sum();
        report.forks += self.workers.len() as u64;
        report.yields = steps(Kind::Yielder);
        report.naps = steps(Kind::Sleeper);
        report.messages = steps(Kind::Player);
        report.visits = steps(Kind::Visitor);
        report.longest_wait_ms = self.longest.ms();
        report.longest_wait_of.clone_from(&self.longest.of);
        report.longest_normal_wait_ms = self.longest_normal.ms();
        report.longest_normal_wait_of.clone_from(&self.longest_normal.of);
        report.lost = self.lost;
        report.unfinished = self.unfinished;
    }
}

/// Longest wait for killed children: they need a CPU too, and the kernel takes a scheduler away
/// that loses them within 30 s.
const KILL_LIMIT: Duration = Duration::from_secs(40);

impl Member {
    fn describe(&self) -> String {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let policy = format!("{:?}", self.policy).to_lowercase();
        format!("{kind}, nice {}, {policy}", self.nice)
    }
}

/// Ignores that a worker does not exist any more: an early end is found when it is reaped.
fn allowed(result: Result<(), impl Into<io::Error>>, what: &str) -> Result<()> {
    match result.map_err(Into::into) {
        Err(error) if error.raw_os_error() != Some(Errno::ESRCH as i32) => {
            Err(error).with_context(|| format!("cannot {what}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_has_not_begun_is_not_stopped() {
        let mut crew = Crew::new().expect("a board");
        let child = Child::spawn(|| {
            sleep(Duration::from_secs(3600));
            true
        });
        let process = child.expect("a process").release();
        let (kind, nice, policy) = (Kind::Sleeper, 0, Policy::Normal);
        crew.workers.push(Member { process, kind, nice, policy, stopped: false, alive: true });
        let was_stopped = |flags| {
            matches!(
                waitpid(process, Some(WaitPidFlag::WUNTRACED | flags)),
                Ok(WaitStatus::Stopped(..))
            )
        };
        assert!(!crew.stop_or_resume(0).expect("allowed"));
        assert!(!was_stopped(WaitPidFlag::WNOHANG));
        crew.board.slots[0].begin();
        assert!(crew.stop_or_resume(0).expect("allowed"));
        assert!(was_stopped(WaitPidFlag::empty()));
        kill(process, Signal::SIGKILL).expect("it is there");
        waitpid(process, None).expect("our child");
    }
}
