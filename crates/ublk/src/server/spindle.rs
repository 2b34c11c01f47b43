// SPDX-License-Identifier: GPL-2.0-only
//! An elevator in front of the model of a disk: requests and times in, completions out. No clock,
//! no I/O.

use disk_model::{Disk, Service, catalogue};
use elevators::{Id, Queue, Request, WaitQueue};

use crate::log::request_lines::Served;
use crate::log::request_log::RequestLog;
use crate::server::account::{Account, Arrival, Counts};

#[derive(Debug, Clone, Copy)]
struct UnderWay {
    id: Id,
    done_at: u64,
}

pub struct Spindle {
    waiting: WaitQueue,
    disk: Disk,
    under_way: Option<UnderWay>,
    /// The last time that was passed to elevator and disk.
    clock: u64,
    account: Account,
}

impl Spindle {
    /// Makes a spindle; `with_log` keeps a log of each request.
    pub fn new(queue: Queue, disk: Disk, with_log: bool) -> Self {
        let (waiting, account) = (WaitQueue::new(queue), Account::new(with_log));
        Self { waiting, disk, under_way: None, clock: 0, account }
    }

    /// Ends all delays and counting.
    pub fn hurry(&mut self) {
        if !self.account.is_closed() {
            self.account.close();
            let none = catalogue::settings("none", []).and_then(Result::ok);
            self.disk = Disk::new(&none.expect("it is in the catalogue"));
        }
    }

    #[cfg(test)]
    fn counts(&self) -> Counts {
        self.account.counts()
    }

    /// The counts and the log.
    pub fn finish(self) -> (Counts, Option<RequestLog>) {
        (self.account.counts(), self.account.into_log())
    }

    /// Takes `request`, which waits from now on. Call `advance` afterwards.
    pub fn add(&mut self, request: Request, arrival: &Arrival, now: u64) {
        self.clock = self.clock.max(now);
        self.account.arrived(&request, arrival, now);
        self.waiting.add(request, self.clock);
    }

    /// Notes that no more requests will come from `context`. Call `advance` afterwards.
    pub fn process_exited(&mut self, context: elevators::Context, now: u64) {
        self.clock = self.clock.max(now);
        self.account.exited(context, self.clock);
        self.waiting.process_exited(context, self.clock);
    }

    /// When `advance` has to be called even if nothing arrives until then.
    pub fn next_event(&self) -> Option<u64> {
        match self.under_way {
            Some(under_way) => Some(under_way.done_at),
            // A timer in the past was asked for already: it must not make the server spin.
            None => self.waiting.next_timer().map(|timer| timer.max(self.clock + 1)),
        }
    }

    /// Adds the requests that are complete by `now` to `done`, and gives the disk the next one.
    ///
    /// A request is completed at its own time, even in the past: a server that wakes up late makes
    /// a completion late but not the disk slower. The host's latency is in the model's overhead.
    pub fn advance(&mut self, now: u64, done: &mut Vec<Request>) {
        loop {
            let mut at = now;
            if let Some(UnderWay { id, done_at }) = self.under_way {
                if done_at > now {
                    return;
                }
                at = done_at;
                self.under_way = None;
                self.clock = self.clock.max(at);
                let parts = self.waiting.completed(id, self.clock);
                self.account.completed(&parts, at, now - at);
                done.extend(parts);
            }
            self.clock = self.clock.max(at);
            self.dispatch();
            if self.under_way.is_none() && self.clock >= now {
                return;
            }
        }
    }

    fn dispatch(&mut self) {
        let Some(request) = self.waiting.next(self.clock) else {
            self.account.asked(self.clock, self.waiting.next_timer());
            if self.waiting.waiting() > 0 {
                self.account.held(self.clock);
            }
            return;
        };
        let from_cylinder = self.disk.cylinder();
        let service = self.disk.service(&request, self.clock);
        let Service { overhead_ns, wait_ns, seek_ns, .. } = service;
        let (id, dispatched_ns) = (request.id, self.clock);
        let done_ns = dispatched_ns + service.total_ns();
        self.account.dispatched(Served {
            id,
            first: request.first,
            sectors: request.sectors,
            dispatched_ns,
            reached_ns: dispatched_ns + overhead_ns + wait_ns + seek_ns,
            done_ns,
            from_cylinder,
            cylinder: self.disk.cylinder(),
            depth: 1 + self.waiting.waiting(),
        });
        self.under_way = Some(UnderWay { id, done_at: done_ns });
    }
}

#[cfg(test)]
mod tests {
    use disk_model::catalogue as disks;
    use elevators::catalogue::VARIANTS;
    use elevators::{MS, Settings, catalogue, replay};
    use proptest::prelude::*;

    use crate::identity::Origin;
    use crate::log::request_lines::HEADER;
    use crate::server::priority;

    use super::*;

    fn spindle(elevator: &str, pairs: &[&str], model: &str) -> Spindle {
        let model = disks::settings(model, []).unwrap().unwrap();
        Spindle::new(Queue::new(&settings(elevator, pairs)), Disk::new(&model), true)
    }

    fn settings(elevator: &str, pairs: &[&str]) -> Settings {
        Settings::parse(catalogue::find(elevator).unwrap(), pairs.iter().copied()).unwrap()
    }

    /// First sectors and lengths of the requests that the disk got, in the order of the log.
    fn given(log: &str) -> Vec<(u64, u64)> {
        let cells = log.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
        let first = cells.filter(|cells| cells[6] == "0");
        let number = |text: &str| text.parse::<u64>().unwrap();
        let mut found: Vec<_> =
            first.map(|cells| (number(cells[5]), number(cells[10]), number(cells[11]))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, first, sectors)| (first, sectors)).collect()
    }

    fn add(spindle: &mut Spindle, request: Request, now: u64) {
        spindle.add(request, &Arrival { asked: Some(now), ..Arrival::default() }, now);
    }

    /// Completions, as ids and times, when it is called exactly when it asks for it.
    fn run(spindle: &mut Spindle) -> Vec<(Id, u64)> {
        let mut finished = Vec::new();
        spindle.advance(spindle.clock, &mut Vec::new());
        while let Some(at) = spindle.next_event() {
            let mut done = Vec::new();
            spindle.advance(at, &mut done);
            finished.extend(done.iter().map(|part| (part.id, at)));
        }
        finished
    }

    #[test]
    fn without_moving_parts_everything_is_done_at_once() {
        let mut spindle = spindle("noop", &[], "none");
        (0..10).for_each(|id| add(&mut spindle, Request::read(id, 1, id * 1000, 8), 5));
        let mut done = Vec::new();
        spindle.advance(5, &mut done);
        assert_eq!(
            done.iter().map(|part| part.id).collect::<Vec<_>>(),
            (0..10).collect::<Vec<_>>()
        );
        assert_eq!((spindle.next_event(), spindle.counts().served), (None, 10));
    }

    #[test]
    fn a_late_call_does_not_make_the_disk_slower() {
        let finish = |wake_up_ns: u64| {
            let mut spindle = spindle("noop", &[], "ide2003");
            (0..50).for_each(|id| add(&mut spindle, Request::read(id, 1, id * 100_000, 8), 0));
            let mut done = Vec::new();
            let mut now = 0;
            while done.len() < 50 {
                spindle.advance(now, &mut done);
                now += wake_up_ns;
            }
            (spindle.counts().busy_ns, spindle.counts().late > 0)
        };
        let (exact, late) = finish(1000);
        assert!(!late);
        assert_eq!(finish(50 * MS), (exact, true));
    }

    #[test]
    fn a_request_refused_by_the_pool_is_served_in_turn() {
        let mut spindle = spindle("noop", &["nr_requests=4"], "ide2003");
        (0..20).for_each(|id| add(&mut spindle, Request::write(id, 1, id * 1000, 8), 0));
        add(&mut spindle, Request::read(20, 2, 5, 8), 0);
        let order: Vec<Id> = run(&mut spindle).iter().map(|(id, _)| *id).collect();
        // The read finds its own direction free: four writes are before it, not twenty.
        assert_eq!(order.iter().position(|id| *id == 20), Some(4));
        assert_eq!(order.len(), 21);
    }

    /// How long the disk is held: a reader's first request, and 1 ms later another reader's far
    /// away; the first reader never comes back.
    fn held_ns(elevator: &str, pairs: &[&str]) -> u64 {
        let mut spindle = spindle(elevator, pairs, "ide2003");
        add(&mut spindle, Request::read(0, 1, 0, 8), 0);
        spindle.advance(0, &mut Vec::new());
        add(&mut spindle, Request::read(1, 2, 50_000_000, 8), MS);
        let served = run(&mut spindle).len();
        assert_eq!((served, spindle.counts().served), (2, 2));
        spindle.counts().held_ns
    }

    #[test]
    fn the_disk_is_held_as_long_as_the_elevator_waits_in_vain() {
        assert_eq!(held_ns("anticipatory", &["antic_expire_ms=6"]), 6 * MS);
        assert_eq!(held_ns("anticipatory", &["antic_expire_ms=17"]), 17 * MS);
        assert_eq!(held_ns("anticipatory", &["antic_expire_ms=0"]), 0);
        assert_eq!(held_ns("cfq", &["slice_idle_ms=9"]), 9 * MS);
        assert_eq!(held_ns("deadline", &[]), 0);
    }

    #[test]
    fn a_latency_is_from_arrival_until_done_and_of_each_part() {
        let mut spindle = spindle("noop", &[], "ide2003");
        add(&mut spindle, Request::read(0, 1, 0, 8), 0);
        spindle.advance(0, &mut Vec::new());
        let first = spindle.next_event().unwrap();
        // Two requests that become one, and a flush, which has no latency.
        add(&mut spindle, Request::write(1, 1, 1000, 8), 0);
        add(&mut spindle, Request::write(2, 1, 1008, 8), first);
        add(&mut spindle, Request::flush(3, 1), first);
        let finished = run(&mut spindle);
        let at = |id| finished.iter().find(|(found, _)| *found == id).unwrap().1;
        let counts = spindle.counts();
        assert_eq!((counts.requests, counts.served), (4, 3));
        assert_eq!(counts.read.unwrap().max_ns, first);
        assert_eq!(counts.write.unwrap().max_ns, at(1));
        assert!(counts.write.unwrap().p50_ns.abs_diff(at(2) - first) <= at(2) / 1000);
    }

    #[test]
    fn requests_after_hurry_are_not_counted() {
        let mut spindle = spindle("noop", &[], "ide2003");
        (0..5).for_each(|id| add(&mut spindle, Request::write(id, 1, id * 1000, 8), 0));
        spindle.advance(0, &mut Vec::new());
        spindle.hurry();
        let counts = spindle.counts();
        let logged: Vec<_> = spindle.account.log().unwrap().lines().collect();
        add(&mut spindle, Request::write(5, 1, 0, 8), 1);
        assert_eq!(run(&mut spindle).len(), 6);
        assert_eq!(spindle.counts(), counts);
        let (_, log) = spindle.finish();
        assert_eq!(log.unwrap().lines().collect::<Vec<_>>(), logged);
        assert_eq!((counts.requests, counts.served, counts.write), (5, 1, None));
    }

    /// One event: its kind, its task, its block, its time after the last one, and whether the
    /// server looks before it.
    type Step = (u8, u32, u64, u64, bool);

    /// Passes a step to `spindle`; some processes have a class of their own.
    fn take(spindle: &mut Spindle, id: Id, (what, task, block, _, _): Step, now: u64) {
        let classes = [0, 2 << 13 | 1, 3 << 13, 1 << 13 | 2];
        let priority_bits = classes.get(task as usize).copied().unwrap_or_default();
        let origin = Origin { task, priority: priority_bits, ..Origin::default() };
        let context = origin.context();
        let request = match what {
            0..5 => Request::read(id, context, block * 8, 8),
            5..8 => Request::write(id, context, block * 8, 8),
            8 => Request { sync: true, ..Request::write(id, context, block * 8, 8) },
            9 => Request::flush(id, context),
            _ => return spindle.process_exited(context, now),
        };
        let arrival = Arrival { asked: Some(now), origin };
        spindle.add(Request { priority: priority(origin), ..request }, &arrival, now);
    }

    proptest! {
        #[test]
        fn the_log_has_every_call_of_the_elevator(
            variant in prop::sample::select(VARIANTS),
            model in prop::sample::select(vec!["ide2003", "none"]),
            nr_requests in 4_u64..40,
            steps in prop::collection::vec((0_u8..12, 1_u32..7, 0_u64..400, 0_u64..16 * MS, any::<bool>()), 1..300),
        ) {
            let (elevator, pairs) = variant;
            let pool = format!("nr_requests={nr_requests}");
            let pairs: Vec<&str> = pairs.iter().copied().chain([pool.as_str()]).collect();
            let mut spindle = spindle(elevator, &pairs, model);
            let mut now = 3600 * 1000 * MS;
            for (id, step) in steps.iter().enumerate() {
                now += step.3;
                if step.4 {
                    while let Some(at) = spindle.next_event().filter(|at| *at < now) {
                        spindle.advance(at, &mut Vec::new());
                    }
                    spindle.advance(now, &mut Vec::new());
                }
                // A clock never shows the same time twice.
                now += 1;
                take(&mut spindle, id as Id, *step, now);
            }
            run(&mut spindle);
            let lines = spindle.finish().1.unwrap().lines().fold(HEADER.to_owned(), |all, line| all + "\n" + &line);
            let log = replay::Log::parse(&lines).unwrap();
            let order: Vec<_> = log.replay(&settings(elevator, &pairs)).iter().map(|each| (each.first, each.sectors)).collect();
            prop_assert!(log.is_whole);
            prop_assert_eq!(order, given(&lines));
        }

        #[test]
        fn every_request_comes_back_once(
            elevator in prop::sample::select(vec!["noop", "deadline", "anticipatory", "cfq"]),
            nr_requests in 4_u64..200,
            requests in prop::collection::vec((any::<bool>(), 0_u64..4, 0_u64..1_000_000, 0_u64..3 * MS), 1..300),
        ) {
            let mut spindle = spindle(elevator, &[&format!("nr_requests={nr_requests}")], "ide2003");
            let (mut now, mut done) = (0, Vec::new());
            for (id, (reads, context, block, gap_ns)) in requests.iter().enumerate() {
                let make = if *reads { Request::read } else { Request::write };
                spindle.advance(now, &mut done);
                add(&mut spindle, make(id as Id, *context, block * 8, 8), now);
                now += gap_ns;
            }
            spindle.advance(now, &mut done);
            let mut ids: Vec<Id> = done.iter().map(|part| part.id).collect();
            ids.extend(run(&mut spindle).iter().map(|(id, _)| *id));
            ids.sort_unstable();
            prop_assert_eq!(ids, (0..requests.len() as Id).collect::<Vec<_>>());
        }
    }
}
