// SPDX-License-Identifier: GPL-2.0-only
//! Processes, an elevator and a disk in virtual time: a discrete-event simulation for tests and pictures.
#![allow(dead_code, reason = "each user needs a part")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "contexts and counts are small"
)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use disk_model::Disk;
use elevators::{MS, Queue, Request, Settings, catalogue};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

pub const GB: u64 = 1_000_000_000 / 512;
/// 128 KiB in sectors.
pub const WINDOW: u64 = 256;

/// How a process uses the disk.
#[derive(Debug, Clone)]
pub enum Habit {
    /// Reads `sectors`, then the ones after them, and so on, with `windows` such reads under way.
    Sequential { sectors: u64, windows: usize },
    /// Reads 4 KiB anywhere in the first `within` sectors of its area.
    Scattered { within: u64, places: SplitMix64 },
    /// Keeps `waiting` writes waiting, as a flusher does; each begins `stride` sectors after the
    /// last.
    Writer { waiting: usize, sectors: u64, stride: u64 },
}

#[derive(Debug, Clone)]
pub struct Process {
    pub name: &'static str,
    pub habit: Habit,
    /// The sector at which it begins.
    pub first: u64,
    /// Nanoseconds from the completion of a read to the next one.
    pub think_ns: u64,
}

impl Process {
    /// Reads a file, with 16 microseconds of work per page, and asks for the next window in the
    /// middle of the last.
    pub fn sequential(name: &'static str, first: u64) -> Self {
        Self {
            name,
            habit: Habit::Sequential { sectors: WINDOW, windows: 1 },
            first,
            think_ns: 16 * 16_000,
        }
    }

    /// This process with `windows` reads under way.
    pub fn ahead(mut self, windows: usize) -> Self {
        self.habit = Habit::Sequential { sectors: WINDOW, windows };
        self
    }

    pub fn scattered(name: &'static str, first: u64, within: u64, think_ns: u64) -> Self {
        Self {
            name,
            habit: Habit::Scattered { within, places: SplitMix64::seed_from_u64(first + 1) },
            first,
            think_ns,
        }
    }

    pub fn writer(
        name: &'static str,
        first: u64,
        waiting: usize,
        sectors: u64,
        stride: u64,
    ) -> Self {
        Self { name, habit: Habit::Writer { waiting, sectors, stride }, first, think_ns: 0 }
    }

    fn at_start(&self) -> usize {
        match self.habit {
            Habit::Sequential { windows, .. } => windows,
            Habit::Scattered { .. } => 1,
            Habit::Writer { waiting, .. } => waiting,
        }
    }

    fn next(&mut self, id: u64, context: u64) -> Request {
        match &mut self.habit {
            Habit::Sequential { sectors, .. } => {
                let request = Request::read(id, context, self.first, *sectors);
                self.first += *sectors;
                request
            }
            Habit::Scattered { within, places } => {
                let block = places.next_u64() % (*within / 8);
                Request::read(id, context, self.first + block * 8, 8)
            }
            Habit::Writer { sectors, stride, .. } => {
                let request = Request::write(id, context, self.first, *sectors);
                self.first += *stride;
                request
            }
        }
    }
}

/// One request on its way through the disk.
#[derive(Debug, Clone, Copy)]
pub struct Move {
    pub request: Request,
    pub at: u64,
    pub done: u64,
    /// The cylinder of the head before.
    pub from_cylinder: u64,
    /// When the head has reached the request.
    pub reached: u64,
    pub cylinder: u64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Completed(u64),
    /// The process with this index submits its next request.
    Submits(usize),
    Timer,
}

pub struct World {
    pub queue: Queue,
    pub disk: Disk,
    pub now: u64,
    pub trace: Vec<Move>,
    processes: Vec<Process>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    /// How many events were planned: at equal times the event that was planned first comes first.
    planned: u64,
    busy: bool,
    last_id: u64,
    refused: VecDeque<Request>,
}

impl World {
    pub fn new(elevator: &Settings, disk: Disk, processes: &[Process]) -> Self {
        let mut world = Self {
            queue: Queue::new(elevator),
            disk,
            now: 0,
            trace: Vec::new(),
            processes: processes.to_vec(),
            events: BinaryHeap::new(),
            planned: 0,
            busy: false,
            last_id: 0,
            refused: VecDeque::new(),
        };
        for (index, process) in processes.iter().enumerate() {
            (0..process.at_start()).for_each(|_| world.plan(0, Event::Submits(index)));
        }
        world
    }

    pub fn run_until(&mut self, end: u64) {
        while let Some(Reverse((at, ..))) = self.events.peek() {
            if *at > end {
                return;
            }
            let Reverse((at, _, event)) = self.events.pop().expect("it was seen");
            self.now = at;
            match event {
                Event::Completed(id) => self.complete(id),
                Event::Submits(index) => self.submit(index),
                Event::Timer => {}
            }
            self.dispatch();
        }
    }

    /// Sectors that were moved for each process, in the order of the processes, from `since` on.
    pub fn sectors(&self, since: u64) -> Vec<u64> {
        let mut sums: BTreeMap<u64, u64> =
            (0..self.processes.len() as u64).map(|context| (context, 0)).collect();
        for step in self.trace.iter().filter(|step| step.at >= since && step.done <= self.now) {
            *sums.get_mut(&step.request.context).expect("contexts are positions") +=
                step.request.sectors;
        }
        sums.into_values().collect()
    }

    fn plan(&mut self, at: u64, event: Event) {
        self.planned += 1;
        self.events.push(Reverse((at, self.planned, event)));
    }

    fn submit(&mut self, index: usize) {
        self.last_id += 1;
        let request = self.processes[index].next(self.last_id, index as u64);
        if let Err(refused) = self.queue.offer(request, self.now) {
            self.refused.push_back(refused);
        }
    }

    fn complete(&mut self, id: u64) {
        self.busy = false;
        for part in self.queue.completed(id, self.now) {
            let index = part.context as usize;
            self.plan(self.now + self.processes[index].think_ns, Event::Submits(index));
        }
        for _ in 0..self.refused.len() {
            let request = self.refused.pop_front().expect("they were counted");
            if let Err(refused) = self.queue.offer(request, self.now) {
                self.refused.push_back(refused);
            }
        }
    }

    fn dispatch(&mut self) {
        if self.busy {
            return;
        }
        let Some(request) = self.queue.next(self.now) else {
            if let Some(timer) = self.queue.next_timer() {
                self.plan(timer.max(self.now), Event::Timer);
            }
            return;
        };
        let from_cylinder = self.disk.cylinder();
        let service = self.disk.service(&request, self.now);
        let done = self.now + service.total_ns();
        let reached = done - service.transfer_ns - service.rotation_ns;
        self.trace.push(Move {
            request,
            at: self.now,
            done,
            from_cylinder,
            reached,
            cylinder: self.disk.cylinder(),
        });
        self.busy = true;
        self.plan(done, Event::Completed(request.id));
    }
}

pub fn elevator(name: &str, pairs: &[&str]) -> Settings {
    let description = catalogue::find(name).expect("it is in the catalogue");
    Settings::parse(description, pairs.iter().copied()).expect("they are allowed")
}

pub fn disk(name: &str, pairs: &[&str]) -> Disk {
    let settings = disk_model::catalogue::settings(name, pairs.iter().copied())
        .expect("it is in the catalogue");
    Disk::new(&settings.expect("they are allowed"))
}

/// Several sequential readers, 4 GB apart, each with `windows` reads under way.
pub fn readers(count: usize, windows: usize) -> Vec<Process> {
    let names = ["reader 1", "reader 2", "reader 3", "reader 4"];
    let reader =
        |index: usize| Process::sequential(names[index], index as u64 * 4 * GB).ahead(windows);
    (0..count).map(reader).collect()
}

/// Runs `processes` on a new `ide2003`; returns what each moved after the first second, in MB/s.
pub fn rates(elevator: &Settings, processes: &[Process], seconds: u64) -> Vec<f64> {
    rates_on(disk("ide2003", &[]), elevator, processes, seconds)
}

pub fn rates_on(disk: Disk, elevator: &Settings, processes: &[Process], seconds: u64) -> Vec<f64> {
    let mut world = World::new(elevator, disk, processes);
    world.run_until((1 + seconds) * 1000 * MS);
    world
        .sectors(1000 * MS)
        .iter()
        .map(|sectors| *sectors as f64 * 512.0 / 1e6 / seconds as f64)
        .collect()
}
