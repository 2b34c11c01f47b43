// SPDX-License-Identifier: GPL-2.0-only
//! The children: workers from the beginning to the end, and storms in between.

use std::io::pipe;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;
use nix::libc;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::Report;
use super::board::{Board, MOST_WORKERS, Slot};
use super::choices::Policy;
use super::worker::{self, Kind, Racket, now_ns};
use crate::work::process::{die_with, now, spawn};

struct Worker {
    process: Pid,
    kind: Kind,
    nice: i8,
    policy: Policy,
    stopped: bool,
    alive: bool,
}

pub struct Crew {
    board: &'static Board,
    workers: Vec<Worker>,
    storms: Vec<Pid>,
    longest_ns: u64,
    longest_of: String,
    lost: u64,
    unfinished: u64,
}

impl Crew {
    /// Starts two hogs, a yielder, a sleeper and two players for every CPU.
    pub fn hire(cpus: usize, seed: u64) -> Result<Self> {
        let mut crew = Self {
            board: Board::create()?,
            workers: Vec::new(),
            storms: Vec::new(),
            longest_ns: 0,
            longest_of: String::new(),
            lost: 0,
            unfinished: 0,
        };
        ensure!(cpus * 6 <= MOST_WORKERS, "more CPUs than {} workers can keep busy", MOST_WORKERS);
        for cpu in 0..cpus {
            let own_seed = seed ^ cpu as u64;
            crew.hire_one(Kind::Hog, worker::hog)?;
            crew.hire_one(Kind::Hog, worker::hog)?;
            crew.hire_one(Kind::Yielder, worker::yielder)?;
            crew.hire_one(Kind::Sleeper, |board, slot| worker::sleeper(board, slot, own_seed))?;
            crew.hire_players()?;
        }
        Ok(crew)
    }

    fn hire_one(
        &mut self,
        kind: Kind,
        work: impl FnOnce(&'static Board, &'static Slot) -> bool,
    ) -> Result<()> {
        let (board, parent) = (self.board, Pid::this());
        let slot = &board.slots[self.workers.len()];
        slot.ready(now_ns());
        let process = spawn(|| die_with(parent) && work(board, slot))?;
        let (nice, policy) = (0, Policy::Normal);
        self.workers.push(Worker { process, kind, nice, policy, stopped: false, alive: true });
        Ok(())
    }

    /// Two that hold nothing but their own ends of two pipes, so that the end of one is seen by the other.
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

    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    pub fn storms(&self) -> usize {
        self.storms.len()
    }

    pub fn set_affinity(&mut self, worker: usize, set: &CpuSet) -> Result<()> {
        allowed(sched_setaffinity(self.workers[worker].process, set), "bind a worker to CPUs")
    }

    pub fn set_nice(&mut self, worker: usize, nice: i8) -> Result<()> {
        let worker = &mut self.workers[worker];
        worker.nice = nice;
        // SAFETY: a plain system call.
        let result = unsafe {
            libc::setpriority(
                libc::PRIO_PROCESS,
                worker.process.as_raw().cast_unsigned(),
                nice.into(),
            )
        };
        allowed(Errno::result(result).map(drop), "change a worker's nice value")
    }

    pub fn set_policy(&mut self, worker: usize, policy: Policy) -> Result<()> {
        let worker = &mut self.workers[worker];
        worker.policy = policy;
        let number = match policy {
            Policy::Normal => libc::SCHED_OTHER,
            Policy::Batch => libc::SCHED_BATCH,
            Policy::Idle => libc::SCHED_IDLE,
        };
        let parameter = libc::sched_param { sched_priority: 0 };
        // SAFETY: the parameter outlives the call.
        let result = unsafe {
            libc::sched_setscheduler(worker.process.as_raw(), number, &raw const parameter)
        };
        allowed(Errno::result(result).map(drop), "change a worker's policy")
    }

    /// True if it was stopped, false if it goes on.
    pub fn stop_or_resume(&mut self, worker: usize) -> Result<bool> {
        let slot = &self.board.slots[worker];
        let worker = &mut self.workers[worker];
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
        let parent = Pid::this();
        let storm = spawn(|| die_with(parent) && worker::storm(children, seed))?;
        self.storms.push(storm);
        Ok(())
    }

    /// Reaps who has ended, and looks how long the others have been waiting.
    pub fn look(&mut self) {
        self.reap();
        let now = now_ns();
        for (worker, slot) in self.workers.iter().zip(&self.board.slots) {
            if worker.alive {
                slot.note(now);
            }
            if slot.longest_ns() > self.longest_ns {
                self.longest_ns = slot.longest_ns();
                self.longest_of = worker.describe();
            }
        }
    }

    /// True while there are children.
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

    /// The kernel knows no child of ours any more, so those we still wait for are lost.
    fn miss_all(&mut self) {
        self.lost += self.left() as u64;
        self.storms.clear();
        self.workers.iter_mut().for_each(|worker| worker.alive = false);
    }

    fn left(&self) -> usize {
        self.storms.len() + self.workers.iter().filter(|worker| worker.alive).count()
    }

    /// Lets everybody end; who has not within `limit` is killed.
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
            // Counted as unfinished already.
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

    /// What a killed storm has left comes to this process; called when no other child is left.
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

    pub fn tell(&self, report: &mut Report) {
        let steps = |kind| {
            let slots = self.workers.iter().zip(&self.board.slots);
            slots.filter(|(worker, _)| worker.kind == kind).map(|(_, slot)| slot.steps()).sum()
        };
        report.forks += self.workers.len() as u64;
        report.yields = steps(Kind::Yielder);
        report.naps = steps(Kind::Sleeper);
        report.messages = steps(Kind::Player);
        report.longest_wait_ms = Duration::from_nanos(self.longest_ns).as_secs_f64() * 1e3;
        report.longest_wait_of.clone_from(&self.longest_of);
        report.lost = self.lost;
        report.unfinished = self.unfinished;
    }
}

/// The killed need a CPU too, and a scheduler that lost them is taken away by the kernel within 30 s.
const KILL_LIMIT: Duration = Duration::from_secs(40);

impl Worker {
    fn describe(&self) -> String {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let policy = format!("{:?}", self.policy).to_lowercase();
        format!("{kind}, nice {}, {policy}", self.nice)
    }
}

/// A worker that has ended without being asked is found when it is reaped.
fn allowed(result: nix::Result<()>, what: &str) -> Result<()> {
    match result {
        Ok(()) | Err(Errno::ESRCH) => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot {what}")),
    }
}
