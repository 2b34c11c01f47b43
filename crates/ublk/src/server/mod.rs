// SPDX-License-Identifier: GPL-2.0-only
//! Serves the requests of one disk: in the order of its elevator, at the times of its model.

pub mod account;
pub mod data_file;
pub mod mounts;
pub mod spindle;
pub mod store;

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use elevators::{Class, Id, Priority, Request};
use nix::errno::Errno;
use nix::libc;

use self::account::{Arrival, Counts};
use self::spindle::Spindle;
use self::store::Store;
use crate::driver::abi;
use crate::driver::channel::{Channel, Completion};
use crate::identity::{Identity, Origin};
use crate::log::request_log::RequestLog;
use machine::clock::now_ns;

const SECTOR_BYTES: u64 = 512;

/// A request that the driver has passed.
#[derive(Debug, Default, Clone, Copy)]
struct Job {
    op: u8,
    first: u64,
    sectors: u64,
    /// The answer, once the data has been copied; until the next request of this tag.
    result: Option<i32>,
}

/// What a server leaves at its end.
#[derive(Default)]
pub struct Done {
    pub counts: Counts,
    /// The log of requests, if that was wanted.
    pub log: Option<RequestLog>,
}

pub struct Server {
    channel: Channel,
    store: Store,
    spindle: Spindle,
    identity: Option<Identity>,
    /// Whether the kernel has an elevator of its own, in which requests have waited.
    behind_elevator: bool,
    sectors: u64,
    /// The job of each tag.
    jobs: Vec<Job>,
    /// Tags whose data may not have been copied, the oldest first.
    uncopied: VecDeque<u16>,
    open_tags: usize,
}

impl Server {
    /// Makes a server and fetches all `depth` tags.
    pub fn new(
        mut channel: Channel,
        depth: u16,
        sectors: u64,
        store: Store,
        spindle: Spindle,
        identity: Option<Identity>,
        behind_elevator: bool,
    ) -> io::Result<Self> {
        for tag in 0..depth {
            channel.fetch(tag)?;
        }
        if let Some(identity) = &identity {
            channel.watch(identity.exits_fd())?;
        }
        channel.submit()?;
        let jobs = vec![Job::default(); depth.into()];
        let open_tags = depth.into();
        let uncopied = VecDeque::with_capacity(open_tags);
        Ok(Self {
            channel,
            store,
            spindle,
            identity,
            behind_elevator,
            sectors,
            jobs,
            uncopied,
            open_tags,
        })
    }

    /// Serves until the disk is stopped and every request that it had is answered; after `hurry`
    /// nothing is delayed.
    pub fn run(mut self, hurry: &AtomicBool) -> io::Result<Done> {
        let mut done = Vec::new();
        while self.open_tags > 0 {
            if hurry.load(Ordering::Relaxed) {
                self.spindle.hurry();
            }
            self.spindle.advance(now_ns(), &mut done);
            for part in done.drain(..) {
                self.answer(tag_of(part.id))?;
            }
            let mut heard = false;
            while let Some(completion) = self.channel.completion()? {
                heard = true;
                self.handle(completion)?;
            }
            if heard {
                continue;
            }
            if let Some(tag) = self.oldest_uncopied() {
                // Send the answers first, so that they need not wait for this copy.
                self.channel.submit()?;
                self.copy(tag);
            } else {
                let limit = self.spindle.next_event().map(|at| at.saturating_sub(now_ns()));
                self.channel.wait(limit.map(Duration::from_nanos))?;
            }
        }
        let (counts, log) = self.spindle.finish();
        Ok(Done { counts, log })
    }

    fn handle(&mut self, completion: Completion) -> io::Result<()> {
        match completion {
            Completion::Request(tag) => self.accept(tag),
            Completion::Closed => {
                self.open_tags -= 1;
                Ok(())
            }
            Completion::Watched => {
                let Some(identity) = &self.identity else { return Ok(()) };
                for context in identity.exits() {
                    self.spindle.process_exited(context, now_ns());
                }
                self.channel.watch(identity.exits_fd())
            }
        }
    }

    fn accept(&mut self, tag: u16) -> io::Result<()> {
        let descriptor = self.channel.descriptor(tag);
        let (op, (first, sectors)) = (descriptor.op(), descriptor.extent());
        self.jobs[usize::from(tag)] = Job { op, first, sectors, result: None };
        let origin = self.identity.as_ref().map(|identity| identity.of(tag)).unwrap_or_default();
        let id = tag.into();
        let request = match op {
            abi::OP_FLUSH => Request::flush(id, origin.context()),
            abi::OP_READ | abi::OP_WRITE if !self.fits(first, sectors) => {
                return self.refuse(tag, Errno::EIO);
            }
            abi::OP_READ => Request::read(id, origin.context(), first, sectors),
            abi::OP_WRITE => Request {
                sync: origin.sync,
                ..Request::write(id, origin.context(), first, sectors)
            },
            // Not offered to the kernel (device parameters), so it should not ask.
            _ => return self.refuse(tag, Errno::EOPNOTSUPP),
        };
        let (request, now) = (Request { priority: priority(origin), ..request }, now_ns());
        let asked = if self.behind_elevator { origin.asked() } else { Some(now) };
        self.spindle.add(request, &Arrival { asked, origin }, now);
        self.uncopied.push_back(tag);
        Ok(())
    }

    /// Whether a request is neither empty nor beyond the end.
    fn fits(&self, first: u64, sectors: u64) -> bool {
        sectors > 0 && first.checked_add(sectors).is_some_and(|end| end <= self.sectors)
    }

    fn refuse(&mut self, tag: u16, errno: Errno) -> io::Result<()> {
        let result = -(errno as i32);
        self.jobs[usize::from(tag)].result = Some(result);
        self.channel.commit(tag, result)
    }

    fn answer(&mut self, tag: u16) -> io::Result<()> {
        // The result stays, so that no data are copied for this job any more: the tag may be used
        // again at once.
        let result = self.copy(tag);
        self.channel.commit(tag, result)
    }

    /// A tag to copy while the model's head is still on its way, so that the copy adds no time, as
    /// the drive's own transfer would not.
    fn oldest_uncopied(&mut self) -> Option<u16> {
        loop {
            let tag = self.uncopied.pop_front()?;
            if self.jobs[usize::from(tag)].result.is_none() {
                return Some(tag);
            }
        }
    }

    /// Copies the data of `tag` unless that is done, and returns the answer.
    fn copy(&mut self, tag: u16) -> i32 {
        let index = usize::from(tag);
        let job = self.jobs[index];
        if let Some(result) = job.result {
            return result;
        }
        let result = match self.move_data(tag, &job) {
            // No request is longer than the buffer whose size the driver knows.
            Ok(bytes) => i32::try_from(bytes).unwrap_or(-libc::EIO),
            Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
        };
        self.jobs[index].result = Some(result);
        result
    }

    /// Moves the data of a request and returns the number of bytes.
    fn move_data(&mut self, tag: u16, job: &Job) -> io::Result<usize> {
        let (offset, length) = (job.first * SECTOR_BYTES, job.sectors * SECTOR_BYTES);
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let Self { channel, store, .. } = self;
        match job.op {
            abi::OP_READ => store.read_with(offset, length, |data| channel.give_data(tag, data))?,
            abi::OP_WRITE => {
                store.write_with(offset, length, |data| channel.take_data(tag, data))?
            }
            _ => return Ok(0),
        }
        Ok(length)
    }
}

fn tag_of(id: Id) -> u16 {
    u16::try_from(id).expect("an id is a tag")
}

/// ioprio_set(2): the class in the upper three bits, the level in the lower three. The idle class has no levels, as in
/// Linux 2.6.28, block/cfq-iosched.c, cfq_init_prio_data.
pub fn priority(origin: Origin) -> Priority {
    let level = (origin.priority & 7) as u8;
    match origin.priority >> 13 {
        1 => Priority { class: Class::RealTime, level },
        2 => Priority { class: Class::BestEffort, level },
        3 => Priority { class: Class::Idle, level: 7 },
        _ => Priority::default(),
    }
}
