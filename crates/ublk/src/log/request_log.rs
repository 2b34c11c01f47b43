// SPDX-License-Identifier: GPL-2.0-only
//! A log of requests: when each arrived, which task's it was, when it was served; and every other
//! call of the elevator, so that all can be replayed. docs/elevators/requests.md has the columns.
//! No table grows beyond a fixed number of entries.

use elevators::{Context, Id, Request};

use crate::identity::Origin;
use crate::log::request_lines::{self, Part, Served};

/// Most requests in the log, and most served ones, exits and times held; later requests are only
/// counted.
pub const MOST: usize = 200_000;

pub struct RequestLog {
    most: usize,
    parts: Vec<Part>,
    served: Vec<Served>,
    /// Times in which the disk was held idle: from and until.
    held: Vec<(u64, u64)>,
    /// Processes that have exited, and when the server noticed.
    exits: Vec<(u64, Context)>,
    /// When the disk was free and the elevator returned nothing, except when that was known before.
    asked: Vec<u64>,
    /// Whether the elevator got any news since it was last asked.
    is_news: bool,
    /// When the elevator wanted to be asked again.
    timer: Option<u64>,
    /// The part of each request that is kept; the index is the request's id.
    open: Vec<Option<usize>>,
    /// Whether the last of `served` is under way.
    under_way: bool,
    dropped: u64,
}

impl RequestLog {
    pub fn new(most: usize) -> Self {
        let (held, open) = Default::default();
        Self {
            most,
            parts: Vec::with_capacity(most),
            served: Vec::with_capacity(most),
            held,
            exits: Vec::with_capacity(most),
            // After each request that is served, or for each that comes while the disk is held
            // idle: hardly ever both.
            asked: Vec::with_capacity(2 * most),
            is_news: true,
            timer: None,
            open,
            under_way: false,
            dropped: 0,
        }
    }

    /// How many requests the log had no room for.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    pub fn arrived(&mut self, request: &Request, origin: &Origin, now: u64) {
        let index = index(request.id);
        if self.open.len() <= index {
            self.open.resize(index + 1, None);
        }
        self.is_news = true;
        if self.is_full() {
            self.open[index] = None;
            self.dropped += 1;
            return;
        }
        self.open[index] = Some(self.parts.len());
        self.parts.push(Part {
            id: request.id,
            arrived_ns: now,
            first: request.first,
            sectors: request.sectors,
            rwbs: request_lines::rwbs(request),
            origin: *origin,
            served: None,
        });
    }

    pub fn exited(&mut self, context: Context, now: u64) {
        self.is_news = true;
        if self.exits.len() < self.most {
            self.exits.push((now, context));
        }
    }

    /// Notes that the elevator had no request when asked, and wants to be asked again at `timer`.
    pub fn asked(&mut self, now: u64, timer: Option<u64>) {
        let is_due = self.timer.is_some_and(|timer| timer <= now);
        if (self.is_news || is_due) && self.asked.len() < 2 * self.most {
            self.asked.push(now);
        }
        (self.is_news, self.timer) = (false, timer);
    }

    /// Whether requests are dropped: as soon as one table is full, because without its entries they
    /// would not explain the elevator's decisions.
    fn is_full(&self) -> bool {
        self.parts.len() == self.most
            || self.exits.len() == self.most
            || self.asked.len() == 2 * self.most
    }

    pub fn held(&mut self, from: u64, until: u64) {
        if self.held.len() < self.most {
            self.held.push((from, until));
        }
    }

    pub fn dispatched(&mut self, served: Served) {
        self.under_way = self.served.len() < self.most;
        if self.under_way {
            self.served.push(served);
            self.belongs(served.id);
        }
    }

    pub fn completed(&mut self, parts: &[Request]) {
        self.is_news = true;
        if self.under_way {
            parts.iter().for_each(|part| self.belongs(part.id));
            if parts.iter().all(|part| self.open[index(part.id)].is_none()) {
                // Dropped requests do not take the place of waiting ones.
                self.served.pop();
            }
        }
        self.under_way = false;
    }

    /// Notes that the request `id` is part of the one under way.
    fn belongs(&mut self, id: Id) {
        if let Some(index) = self.open[index(id)] {
            self.parts[index].served = self.served.len().checked_sub(1);
        }
    }

    /// A line for each request, in order of arrival; then one for each time held, each exit, and
    /// each time that the elevator was asked and returned nothing.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let requests = self.parts.iter().map(|part| {
            let served = part.served.map(|index| (&self.served[index], self.is_done(index)));
            request_lines::of_request(part, served)
        });
        let held = self.held.iter().map(|(from, until)| request_lines::of_hold(*from, *until));
        let exits = self.exits.iter().map(|(at, context)| request_lines::of_exit(*at, *context));
        let asked = self.asked.iter().map(|at| request_lines::of_question(*at));
        requests.chain(held).chain(exits).chain(asked)
    }

    fn is_done(&self, served: usize) -> bool {
        !self.under_way || served + 1 < self.served.len()
    }
}

/// The index of `id` in tables: ids are tags, which are small.
pub fn index(id: Id) -> usize {
    usize::try_from(id).expect("an id is a tag")
}

#[cfg(test)]
mod tests {
    use crate::log::request_lines::HEADER;

    use super::*;

    const ORIGIN: Origin = Origin {
        asked_ns: 0,
        task: 7,
        cpu: 1,
        priority: 2 << 13 | 3,
        sync: false,
        comm: *b"a\tb c\0\0\0\0\0\0\0\0\0\0\0",
    };

    fn served(id: Id, first: u64, sectors: u64, at: u64) -> Served {
        let (dispatched_ns, reached_ns, done_ns) = (at, at + 10, at + 30);
        let (from_cylinder, cylinder, depth) = (4, 5, 2);
        Served {
            id,
            first,
            sectors,
            dispatched_ns,
            reached_ns,
            done_ns,
            from_cylinder,
            cylinder,
            depth,
        }
    }

    fn lines(log: &RequestLog) -> Vec<String> {
        log.lines().collect()
    }

    #[test]
    fn parts_of_a_request_have_its_times_and_waiting_ones_have_none() {
        let mut log = RequestLog::new(9);
        let parts = [Request::write(3, 7, 100, 8), Request::write(1, 7, 108, 8)];
        parts.iter().for_each(|part| log.arrived(part, &ORIGIN, 50));
        log.arrived(&Request::flush(2, 7), &ORIGIN, 60);
        log.held(61, 70);
        log.exited(7, 65);
        log.dispatched(served(3, 100, 16, 70));
        log.completed(&parts);
        log.asked(101, None);
        assert_eq!(
            lines(&log),
            [
                "request\t50\t70\t80\t100\t0\t0\tW\t100\t8\t100\t16\t4\t5\t2\tbe3\t1\t7\ta?b c",
                "request\t50\t70\t80\t100\t0\t1\tW\t108\t8\t100\t16\t4\t5\t2\tbe3\t1\t7\ta?b c",
                "request\t60\t\t\t\t\t\tF\t0\t0\t\t\t\t\t\tbe3\t1\t7\ta?b c",
                "held\t61\t\t\t70\t\t\t\t\t\t\t\t\t\t\t\t\t\t",
                "exit\t65\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t7\t",
                "asked\t101\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t",
            ]
        );
        let columns = |line: &str| line.split('\t').count();
        assert!(log.lines().all(|line| columns(&line) == columns(HEADER)));
    }

    #[test]
    fn a_request_under_way_at_the_end_is_not_done() {
        let mut log = RequestLog::new(9);
        log.arrived(&Request::read(0, 7, 0, 8), &ORIGIN, 0);
        log.dispatched(served(0, 0, 8, 1));
        assert!(lines(&log)[0].starts_with("request\t0\t1\t11\t\t0\t0\tR\t"));
    }

    #[test]
    fn requests_beyond_the_limit_are_only_counted() {
        let mut log = RequestLog::new(2);
        for id in 0..5 {
            let request = Request::read(id, 7, id * 100, 8);
            log.arrived(&request, &ORIGIN, id);
            log.held(id, id + 1);
            log.dispatched(served(id, id * 100, 8, id + 1));
            log.completed(&[request]);
        }
        assert_eq!((log.dropped(), log.lines().count()), (3, 4));
        assert!(lines(&log)[1].starts_with("request\t1\t2\t12\t32\t1\t0"));
    }

    #[test]
    fn dropped_requests_do_not_take_the_place_of_waiting_ones() {
        let mut log = RequestLog::new(2);
        let requests: Vec<_> = (0..6).map(|id| Request::read(id, 7, id * 100, 8)).collect();
        requests.iter().for_each(|request| log.arrived(request, &ORIGIN, 0));
        for request in requests.iter().rev() {
            log.dispatched(served(request.id, request.first, 8, 10));
            log.completed(&[*request]);
        }
        assert_eq!(log.dropped(), 4);
        assert!(lines(&log).iter().all(|line| line.starts_with("request\t0\t10\t20\t")));
    }

    #[test]
    fn other_entries_are_as_limited_as_requests() {
        let tell: [fn(&mut RequestLog, u64); 2] = [
            |log, at| log.exited(7, at),
            |log, at| {
                log.asked(at, None);
                log.completed(&[]);
            },
        ];
        for tell in tell {
            let mut log = RequestLog::new(2);
            (0..9).for_each(|at| tell(&mut log, at));
            log.arrived(&Request::read(0, 7, 0, 8), &ORIGIN, 9);
            assert!(lines(&log).len() <= 4 && log.dropped() == 1, "{:?}", lines(&log));
        }
    }

    #[test]
    fn an_answer_that_was_known_is_not_kept_again() {
        let mut log = RequestLog::new(9);
        log.asked(1, None);
        log.asked(2, None);
        log.exited(7, 3);
        log.asked(4, Some(6));
        log.asked(5, Some(6));
        log.asked(6, None);
        log.asked(7, None);
        log.arrived(&Request::read(0, 7, 0, 8), &ORIGIN, 8);
        log.asked(9, None);
        log.dispatched(served(0, 0, 8, 10));
        log.completed(&[Request::read(0, 7, 0, 8)]);
        log.asked(40, None);
        assert_eq!(log.asked, [1, 4, 6, 9, 40]);
    }

    #[test]
    fn an_id_that_is_used_again_is_another_request() {
        let mut log = RequestLog::new(9);
        for at in [0, 100] {
            let request = Request::read(0, 7, at, 8);
            log.arrived(&request, &ORIGIN, at);
            log.dispatched(served(0, at, 8, at));
            log.completed(&[request]);
        }
        assert!(lines(&log)[0].starts_with("request\t0\t0\t10\t30\t0"));
        assert!(lines(&log)[1].starts_with("request\t100\t100\t110\t130\t1"));
    }
}
