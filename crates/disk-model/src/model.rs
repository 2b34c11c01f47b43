// SPDX-License-Identifier: GPL-2.0-only
//! The service time of each request.

use elevators::{Direction, Request};
use parameters::Settings;

use crate::buffer::ReadAhead;
use crate::cache::WriteCache;
use crate::geometry::SECTOR_BYTES;
use crate::mechanics::Mechanics;
use crate::mechanics::Motion;

/// The parts of a request's service time, in nanoseconds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Service {
    pub overhead_ns: u64,
    /// Wait until the drive has finished what it does on its own.
    pub wait_ns: u64,
    pub seek_ns: u64,
    pub rotation_ns: u64,
    /// The transfer from or to the platter or the drive's buffer.
    pub transfer_ns: u64,
}

impl Service {
    pub fn total_ns(&self) -> u64 {
        self.overhead_ns + self.wait_ns + self.seek_ns + self.rotation_ns + self.transfer_ns
    }

    fn moved(self, motion: Motion) -> Self {
        let Motion { seek_ns, rotation_ns, transfer_ns } = motion;
        Self { seek_ns, rotation_ns, transfer_ns, ..self }
    }
}

/// A disk that serves one request after the other: the next one is passed when the last is done.
#[derive(Debug, Clone)]
pub struct Disk {
    /// The moving parts; None if there are none.
    mechanics: Option<Mechanics>,
    overhead_ns: u64,
    interface_kb_s: u64,
    read_ahead: ReadAhead,
    write_cache: Option<WriteCache>,
    /// When the moving parts are free.
    free_at: u64,
}

impl Disk {
    /// # Panics
    /// If `settings` are not those of a disk.
    pub fn new(settings: &Settings) -> Self {
        let sectors = |name| settings.get(name) * 1024 / SECTOR_BYTES;
        Self {
            mechanics: (settings.choice("moving_parts") == "yes").then(|| Mechanics::new(settings)),
            overhead_ns: settings.get("overhead_us") * 1000,
            interface_kb_s: settings.get("interface_kb_s"),
            read_ahead: ReadAhead::new(sectors("read_ahead_kb")),
            write_cache: (settings.choice("write_cache") == "on")
                .then(|| WriteCache::new(sectors("write_cache_kb"))),
            free_at: 0,
        }
    }

    /// The moving parts; None if there are none.
    pub fn mechanics(&self) -> Option<&Mechanics> {
        self.mechanics.as_ref()
    }

    /// Where the head is; 0 without moving parts.
    pub fn cylinder(&self) -> u64 {
        self.mechanics.as_ref().map_or(0, Mechanics::cylinder)
    }

    /// The service time of `request` if the drive gets it at `now`, when the one before is done.
    /// Leaves the head at its end.
    pub fn service(&mut self, request: &Request, now: u64) -> Service {
        let Some(mut mechanics) = self.mechanics.take() else { return Service::default() };
        let start = now + self.overhead_ns;
        if let Some(cache) = &mut self.write_cache {
            let free_at = cache.work_until(now, self.free_at, &mut mechanics);
            if free_at != self.free_at {
                // The head was elsewhere and read nothing ahead.
                self.read_ahead.drop_all();
            }
            self.free_at = free_at;
        }
        let service = match request.direction {
            _ if request.is_flush() => self.flush(start, &mut mechanics),
            Direction::Read => self.read(request, now, start, &mut mechanics),
            Direction::Write => self.write(request, start, &mut mechanics),
        };
        self.mechanics = Some(mechanics);
        Service { overhead_ns: self.overhead_ns, ..service }
    }

    fn interface_ns(&self, sectors: u64) -> u64 {
        sectors * SECTOR_BYTES * 1_000_000 / self.interface_kb_s
    }

    fn read(
        &mut self,
        request: &Request,
        now: u64,
        start: u64,
        mechanics: &mut Mechanics,
    ) -> Service {
        let (first, count) = (request.first, request.sectors);
        if self.write_cache.as_ref().is_some_and(|cache| cache.holds(first, count)) {
            return Service { transfer_ns: self.interface_ns(count), ..Service::default() };
        }
        if let Some(service) = self.read_buffered(first, count, now, start, mechanics) {
            return service;
        }
        let begin = start.max(self.free_at);
        let motion = mechanics.access(first, count, false, begin);
        self.free_at = begin + motion.total_ns();
        self.read_ahead.read(request.end(), 0, self.free_at);
        Service { wait_ns: begin - start, ..Service::default() }.moved(motion)
    }

    fn read_buffered(
        &mut self,
        first: u64,
        count: u64,
        now: u64,
        start: u64,
        mechanics: &mut Mechanics,
    ) -> Option<Service> {
        let hit = self.read_ahead.look_up(first, count, &mechanics.geometry, now)?;
        let rest = count - hit.there;
        if rest > 0 && !hit.goes_on {
            return None;
        }
        let from_platter = mechanics.geometry.transfer_ns(first + hit.there, rest);
        let transfer_ns = from_platter.max(self.interface_ns(count));
        let done = start + transfer_ns;
        // Meanwhile the drive reads on.
        let behind = self.read_ahead.behind(first + count, &mechanics.geometry, done).unwrap_or(0);
        let behind = if rest > 0 { 0 } else { behind };
        self.read_ahead.read(first + count, behind, done);
        mechanics.is_at(first + count + behind, done);
        self.free_at = done;
        Some(Service { transfer_ns, ..Service::default() })
    }

    fn write(&mut self, request: &Request, start: u64, mechanics: &mut Mechanics) -> Service {
        self.read_ahead.drop_all();
        let to_buffer_ns = self.interface_ns(request.sectors);
        let Some(cache) = &mut self.write_cache else {
            let motion = mechanics.access(request.first, request.sectors, true, start);
            self.free_at = start + motion.total_ns();
            return Service::default().moved(motion);
        };
        let room_at = match cache.has_room(request.sectors) {
            true => start,
            false => {
                self.free_at = cache.make_room(Some(request.sectors), self.free_at, mechanics);
                start.max(self.free_at)
            }
        };
        cache.put(request.first, request.sectors);
        self.free_at = self.free_at.max(room_at + to_buffer_ns);
        Service { wait_ns: room_at - start, transfer_ns: to_buffer_ns, ..Service::default() }
    }

    fn flush(&mut self, start: u64, mechanics: &mut Mechanics) -> Service {
        let Some(cache) = &mut self.write_cache else { return Service::default() };
        if cache.sectors() > 0 {
            self.read_ahead.drop_all();
            self.free_at = cache.make_room(None, start.max(self.free_at), mechanics);
        }
        Service { wait_ns: self.free_at.saturating_sub(start), ..Service::default() }
    }
}
