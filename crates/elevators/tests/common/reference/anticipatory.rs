// SPDX-License-Identifier: GPL-2.0-only
//! A reference for anticipatory.
#![expect(clippy::cast_possible_truncation, reason = "contexts and draws are small")]

use super::{Waiting, oldest};
use elevators::Request;

/// Anticipatory with default parameters, as a record of everything that happened, which is searched
/// at every choice. Processes have small numbers.
pub struct Anticipatory {
    history: bool,
    waiting: Waiting,
    /// Requests that are dispatched and not completed.
    flying: Vec<Request>,
    /// End of the last dispatched request of reads and of writes.
    ends: [u64; 2],
    /// When the oldest read and the oldest write were last checked for their expiry.
    looked: [Option<u64>; 2],
    reads_turn: bool,
    switching: bool,
    until: u64,
    /// Whether the batch of reads has no completion yet.
    untimed: bool,
    wrote_from: u64,
    most_writes: u64,
    left: u64,
    uncontended: bool,
    /// The process of the last read.
    last_reader: Option<u64>,
    /// When that read completed.
    came_back: Option<u64>,
    /// Whether waiting has begun.
    holds: bool,
    /// Whether a candidate was found or the time is up.
    done: bool,
    people: [Person; 8],
    new_think: u64,
    new_seek: u64,
    leave: u64,
}

#[derive(Default, Clone, Copy)]
struct Person {
    gone: bool,
    known: bool,
    back: Option<u64>,
    end: Option<u64>,
    think: [u64; 3],
    seek: [u64; 3],
}

fn filter(old: u64, sample: u64) -> u64 {
    (old * 7 + sample * 256) / 8
}

fn learn(mean: &mut [u64; 3], sample: u64) {
    mean[0] = filter(mean[0], 1);
    mean[1] = filter(mean[1], sample);
    mean[2] = (mean[1] + mean[0] / 2) / mean[0];
}

const ANTIC: u64 = 6_000_000;

impl Anticipatory {
    pub fn new(history: bool) -> Self {
        Self {
            history,
            waiting: Vec::new(),
            flying: Vec::new(),
            ends: [0; 2],
            looked: [None; 2],
            reads_turn: true,
            switching: false,
            until: 0,
            untimed: false,
            wrote_from: 0,
            most_writes: 12,
            left: 0,
            uncontended: false,
            last_reader: None,
            came_back: None,
            holds: false,
            done: false,
            people: [Person::default(); 8],
            new_think: 0,
            new_seek: 0,
            leave: 0,
        }
    }

    fn has(&self, sync: bool) -> bool {
        self.waiting.iter().any(|(request, _)| request.sync == sync)
    }

    fn nothing_of(&self, who: u64) -> bool {
        !self.waiting.iter().any(|(request, _)| request.context == who)
            && !self.flying.iter().any(|request| request.context == who)
    }

    /// Forgets a process that has exited and has no requests left: if it comes again it is a new
    /// one.
    fn bury(&mut self, who: u64) {
        if self.people[who as usize].gone && self.last_reader != Some(who) && self.nothing_of(who) {
            self.people[who as usize] = Person::default();
        }
    }

    pub fn add(&mut self, request: Request, now: u64) {
        let alone = self.nothing_of(request.context);
        let person = &mut self.people[request.context as usize];
        person.gone = false;
        if request.sync {
            if let Some(end) = person.end {
                let way = end.max(request.first) - end.min(request.first);
                if person.seek[0] == 0 {
                    self.new_seek = filter(self.new_seek, way);
                }
                let most =
                    person.seek[2] * 4 + if person.seek[0] > 60 { 131_072 } else { 2_097_152 };
                learn(&mut person.seek, way.min(most));
            }
            person.end = Some(request.end());
            if person.known {
                let think = if alone {
                    person.back.map_or(0, |back| (now - back).min(20_000_000))
                } else {
                    0
                };
                if person.think[0] == 0 {
                    self.new_think = filter(self.new_think, think);
                    self.leave = self.leave * 7 / 8;
                }
                learn(&mut person.think, think);
            }
            person.known = true;
        }
        self.waiting.push((request, now));
        if self.holds && self.breaks(Some(request), now) {
            (self.holds, self.done) = (false, true);
        }
    }

    pub fn exited(&mut self, who: u64, now: u64) {
        self.people[who as usize].gone = true;
        if self.last_reader == Some(who) && self.holds && self.breaks(None, now) {
            (self.holds, self.done) = (false, true);
        }
        self.bury(who);
    }

    pub fn completed(&mut self, request: &Request, now: u64) {
        self.flying.retain(|other| other.id != request.id);
        if self.untimed && self.reads_turn && request.sync {
            let (took, meant) = (now - self.wrote_from, 125_000_000);
            let count = self.most_writes;
            self.most_writes = match () {
                () if took > 3 * meant && !self.uncontended => count / 2,
                () if took > meant && !self.uncontended => count - 1,
                () if took * 3 < meant && self.left == 0 => count * 2,
                () if took < meant && self.left == 0 => count + 1,
                () => count,
            }
            .max(1);
            self.until = now + 500_000_000;
            self.untimed = false;
        }
        if request.sync {
            self.people[request.context as usize].back = Some(now);
            if self.last_reader == Some(request.context) {
                self.came_back = Some(now);
            }
        }
        self.bury(request.context);
    }

    fn breaks(&mut self, candidate: Option<Request>, now: u64) -> bool {
        let Some(who) = self.last_reader else { return true };
        let waited = self.came_back.map(|back| now - back);
        if candidate.is_some_and(|request| request.context == who)
            || waited.is_some_and(|waited| waited >= ANTIC)
        {
            return true;
        }
        let person = self.people[who as usize];
        if person.gone {
            if person.think[0] == 0 {
                self.leave = filter(self.leave, 1);
            }
            return true;
        }
        let under_way = self.flying.iter().filter(|request| request.context == who).count();
        let own = usize::from(self.came_back.is_none());
        if under_way > own || self.waiting.iter().any(|(request, _)| request.context == who) {
            return true;
        }
        let here = self.ends[usize::from(!self.reads_turn)];
        if let Some(request) = candidate.filter(|request| request.sync) {
            let ms = if self.holds || self.done { waited.unwrap_or(0) / 1_000_000 } else { 0 };
            let reach = if ms < 2 { 64 } else { 32 << ms };
            if request.first + reach / 2 >= here && request.first <= here + reach {
                self.people[who as usize].back = Some(now);
                return true;
            }
        }
        if !self.history {
            return false;
        }
        let unknown = person.think[0] == 0;
        if unknown && (self.new_think / 256 > ANTIC || self.leave > 128) || person.think[2] > ANTIC
        {
            return true;
        }
        let usual = if person.seek[0] == 0 { self.new_seek / 256 } else { person.seek[2] };
        candidate.is_some_and(|request| usual > here.max(request.first) - here.min(request.first))
    }

    fn best(&self, sync: bool) -> Option<usize> {
        let here = self.ends[usize::from(!sync)];
        let cost = |index: &usize| {
            let first = self.waiting[*index].0.first;
            match first >= here {
                true => (0, first - here, 0),
                false if here - first <= 1 << 20 => (0, 2 * (here - first), 1),
                false => (1, first, 0),
            }
        };
        // Ahead wins a tie with behind.
        (0..self.waiting.len())
            .filter(|index| self.waiting[*index].0.sync == sync)
            .min_by_key(|index| (cost(index), *index))
    }

    fn overdue(&mut self, sync: bool, now: u64) -> Option<usize> {
        let (which, expiry) = if sync { (0, 125_000_000) } else { (1, 250_000_000) };
        if self.looked[which].is_some_and(|last| now - last < expiry) {
            return None;
        }
        self.looked[which] = Some(now);
        oldest(&self.waiting, |request| request.sync == sync)
            .filter(|index| self.waiting[*index].1 + expiry <= now)
    }

    pub fn next(&mut self, now: u64) -> Option<Request> {
        if self.holds && self.came_back.is_some_and(|back| now >= back + ANTIC) {
            (self.holds, self.done) = (false, true);
            if self.last_reader.is_some_and(|who| self.people[who as usize].think[0] == 0) {
                self.leave = filter(self.leave, 1);
            }
        }
        let (reads, writes) = (self.has(true), self.has(false));
        self.uncontended |= !self.reads_turn && !reads && (self.left == 0 || !writes);
        if self.holds || (!reads && !writes) {
            return None;
        }
        if !self.switching {
            let over = !self.untimed && (now > self.until || (!self.reads_turn && self.left == 0));
            let mut switch = reads && writes && over;
            if !switch {
                let best = self.best(self.reads_turn);
                if self.reads_turn {
                    let reading = self.flying.iter().any(|request| request.sync);
                    if !reading && let Some(index) = self.overdue(true, now) {
                        return Some(self.take(index));
                    }
                    let candidate = best.map(|index| self.waiting[index].0);
                    if self.last_reader.is_some() && !self.done && !self.breaks(candidate, now) {
                        self.holds = true;
                        return None;
                    }
                    if reading {
                        return None;
                    }
                }
                if let Some(index) = best {
                    if reads && !writes && self.reads_turn {
                        self.until = now + 500_000_000;
                    }
                    let index = self.overdue(self.reads_turn, now).unwrap_or(index);
                    return Some(self.take(index));
                }
                switch = true;
            }
            let to_reads = reads && !(writes && self.reads_turn);
            self.switching = switch && to_reads != self.reads_turn;
            self.reads_turn = to_reads;
            if !to_reads {
                (self.untimed, self.left, self.uncontended) = (false, self.most_writes, false);
            }
            if !to_reads && !self.switching {
                (self.until, self.wrote_from) = (now + 125_000_000, now);
            }
        }
        if self.switching {
            if !self.flying.is_empty() {
                return None;
            }
            self.switching = false;
            if self.reads_turn {
                self.untimed = true;
            } else {
                (self.until, self.wrote_from) = (now + 125_000_000, now);
            }
        }
        let index = match self.reads_turn {
            true => {
                self.looked[0] = Some(now);
                oldest(&self.waiting, |request| request.sync)
            }
            false => self.overdue(false, now).or_else(|| self.best(false)),
        };
        index.map(|index| self.take(index))
    }

    fn take(&mut self, index: usize) -> Request {
        let (request, _) = self.waiting.remove(index);
        self.ends[usize::from(!request.sync)] = request.end();
        if !request.sync {
            self.left = self.left.saturating_sub(1);
        }
        let before = self.last_reader;
        self.last_reader = request.sync.then_some(request.context);
        (self.came_back, self.holds, self.done) = (None, false, false);
        self.flying.push(request);
        if let Some(before) = before {
            self.bury(before);
        }
        request
    }
}
