// SPDX-License-Identifier: GPL-2.0-only
//! The wait after a read, and everything that ends it.

use rustc_hash::FxHashMap as HashMap;

use super::kind::Kind;
use super::process::{Newcomers, Process};
use crate::request::{Context, Request};
use crate::time::MS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Off,
    /// The read is still in flight.
    ForCompletion,
    ForNext,
    /// The next choice has to dispatch.
    Finished,
}

pub struct Anticipation {
    expire_ns: u64,
    /// Whether think times and seeks decide too; the first version ignored them.
    history: bool,
    state: State,
    /// The process of the last dispatched read; None after a write.
    process: Option<Context>,
    /// When that read completed.
    completed: Option<u64>,
}

impl Anticipation {
    pub fn new(expire_ns: u64, history: bool) -> Self {
        Self { expire_ns, history, state: State::Off, process: None, completed: None }
    }

    pub fn enabled(&self) -> bool {
        self.expire_ns > 0
    }

    pub fn waits(&self) -> bool {
        matches!(self.state, State::ForCompletion | State::ForNext)
    }

    pub fn is_for(&self, context: Context) -> bool {
        self.process == Some(context)
    }

    pub fn process(&self) -> Option<Context> {
        self.process
    }

    /// Whether a wait may begin at all.
    pub fn may_wait(&self) -> bool {
        self.process.is_some() && self.state != State::Finished
    }

    pub fn wait(&mut self) {
        self.state = if self.completed.is_some() { State::ForNext } else { State::ForCompletion };
    }

    pub fn finish(&mut self) {
        self.state = State::Finished;
    }

    pub fn timer(&self) -> Option<u64> {
        self.completed
            .filter(|_| self.state == State::ForNext)
            .map(|completed| completed + self.expire_ns)
    }

    pub fn dispatched(&mut self, request: &Request, kind: Kind) {
        self.state = State::Off;
        self.process = (kind == Kind::Sync).then_some(request.context);
        self.completed = None;
    }

    pub fn completed(&mut self, request: &Request, kind: Kind, now: u64) {
        if kind == Kind::Sync && self.is_for(request.context) {
            self.completed = Some(now);
            if self.state == State::ForCompletion {
                self.state = State::ForNext;
            }
        }
    }

    /// Ends the wait if its time is up.
    pub fn time_out(
        &mut self,
        now: u64,
        processes: &HashMap<Context, Process>,
        newcomers: &mut Newcomers,
    ) {
        if self.timer().is_none_or(|timer| now < timer) {
            return;
        }
        self.state = State::Finished;
        if self.anticipated(processes).is_some_and(|process| process.think.samples == 0) {
            newcomers.never_came_back();
        }
    }

    /// Whether not to wait, or to wait no longer; `candidate` would be served instead, `last_end`
    /// is the end of the last dispatched read. The numbers below are those in
    /// docs/elevators/anticipatory.md.
    pub fn can_break(
        &self,
        candidate: Option<&Request>,
        last_end: u64,
        processes: &mut HashMap<Context, Process>,
        newcomers: &mut Newcomers,
        now: u64,
    ) -> bool {
        let Some(context) = self.process else { return true };
        let waited = self.completed.map(|completed| now - completed);
        // 1 and 2
        if candidate.is_some_and(|candidate| candidate.context == context)
            || waited.is_some_and(|waited| waited >= self.expire_ns)
        {
            return true;
        }
        let Some(process) = processes.get_mut(&context) else { return true };
        // 3
        if process.exited {
            if process.think.samples == 0 {
                newcomers.never_came_back();
            }
            return true;
        }
        // 4 and 5
        let others = process.in_flight - usize::from(self.completed.is_none());
        if process.queued + others > 0 {
            return true;
        }
        // 6
        if candidate
            .is_some_and(|candidate| candidate.sync && self.is_close(candidate, last_end, waited))
        {
            process.last_completion = Some(now);
            return true;
        }
        self.history && hopeless(process, newcomers, candidate, last_end, self.expire_ns)
    }

    fn anticipated<'a>(&self, processes: &'a HashMap<Context, Process>) -> Option<&'a Process> {
        self.process.and_then(|context| processes.get(&context))
    }

    /// Whether `candidate` is close to the head; the limit grows with the wait (as_close_req).
    fn is_close(&self, candidate: &Request, last_end: u64, waited_ns: Option<u64>) -> bool {
        let waited_ms = waited_ns.filter(|_| self.state != State::Off).unwrap_or(0) / MS;
        let delta = match waited_ms {
            0 | 1 => 64,
            2..=20 => 64 << (waited_ms - 1),
            _ => return true,
        };
        (last_end.saturating_sub(delta / 2)..=last_end + delta).contains(&candidate.first)
    }
}

/// Whether the process is not expected back in time, or only with a request no better than
/// `candidate`: conditions 7, 8 and 9.
fn hopeless(
    process: &Process,
    newcomers: &Newcomers,
    candidate: Option<&Request>,
    last_end: u64,
    expire_ns: u64,
) -> bool {
    let thinks_too_long = match process.think.samples {
        0 => newcomers.mean_think_ns() > expire_ns || newcomers.exit_probability > 128,
        _ => process.think.value > expire_ns,
    };
    let expected = match process.seeks.mean.samples {
        0 => newcomers.mean_seek(),
        _ => process.seeks.mean.value,
    };
    thinks_too_long
        || candidate.is_some_and(|candidate| expected > last_end.abs_diff(candidate.first))
}
