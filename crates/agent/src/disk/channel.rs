// SPDX-License-Identifier: GPL-2.0-only
//! The character device of one disk: what is asked of it, its data, its answers.

use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::time::Duration;

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use nix::libc;
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

use super::abi::{self, Descriptor, IoCommand};

/// Entries of the submission ring; more are submitted in between.
const ENTRIES: u32 = 128;
/// Marks the poll for something else than a request.
const WATCHED: u64 = u64::MAX;

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Request(u16),
    /// The disk was stopped; this tag will not come back.
    Closed,
    /// The watched file can be read.
    Watched,
}

pub struct Channel {
    ring: IoUring<squeue::Entry, cqueue::Entry>,
    device: File,
    descriptors: NonNull<Descriptor>,
    bytes: NonZeroUsize,
}

// SAFETY: the mapping is its own, and the driver allows one task to use it, which is asserted nowhere
// else than in its answers.
unsafe impl Send for Channel {}

impl Channel {
    /// `device` is the character device with one queue of `depth`.
    pub fn open(device: File, depth: u16) -> io::Result<Self> {
        let bytes = (usize::from(depth) * size_of::<Descriptor>()).next_multiple_of(4096);
        let bytes = NonZeroUsize::new(bytes).expect("no queue is empty");
        let offset = abi::DESCRIPTORS.cast_signed();
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe {
            mmap(None, bytes, ProtFlags::PROT_READ, MapFlags::MAP_SHARED, &device, offset)?
        };
        // A completion for every tag may wait, and one for the watched file.
        let ring =
            IoUring::builder().setup_cqsize(2 * u32::from(depth).max(ENTRIES)).build(ENTRIES)?;
        Ok(Self { ring, device, descriptors: start.cast(), bytes })
    }

    /// Asks for the first request of `tag`.
    pub fn fetch(&mut self, tag: u16) -> io::Result<()> {
        self.command(abi::FETCH_REQ, IoCommand { tag, ..IoCommand::default() })
    }

    /// Answers the request of `tag` with the bytes that were moved or a negative errno, and asks for the next one.
    pub fn commit(&mut self, tag: u16, result: i32) -> io::Result<()> {
        self.command(abi::COMMIT_AND_FETCH_REQ, IoCommand { tag, result, ..IoCommand::default() })
    }

    /// Says `Watched` once when `fd` can be read.
    pub fn watch(&mut self, fd: i32) -> io::Result<()> {
        let events = libc::POLLIN as u32;
        self.push(&opcode::PollAdd::new(types::Fd(fd), events).build().user_data(WATCHED))
    }

    /// Waits for at least one event, but at most `limit` if there is one.
    pub fn wait(&mut self, limit: Option<Duration>) -> io::Result<()> {
        let submitter = self.ring.submitter();
        let waited = match limit {
            None => submitter.submit_and_wait(1),
            Some(limit) => {
                let span = types::Timespec::from(limit);
                submitter.submit_with_args(1, &types::SubmitArgs::new().timespec(&span))
            }
        };
        match waited {
            Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Hands over what has been submitted, without waiting.
    pub fn submit(&mut self) -> io::Result<()> {
        self.ring.submit().map(drop)
    }

    /// Takes one event that has happened already.
    pub fn event(&mut self) -> Option<Event> {
        let completion = self.ring.completion().next()?;
        Some(match (completion.user_data(), completion.result()) {
            (WATCHED, _) => Event::Watched,
            (tag, 0) => Event::Request(tag as u16),
            _ => Event::Closed,
        })
    }

    /// The request that `tag` stands for now.
    pub fn descriptor(&self, tag: u16) -> Descriptor {
        // SAFETY: the mapping has one for each tag, and the driver writes it only before it hands
        // the tag over.
        unsafe { self.descriptors.add(tag.into()).read_volatile() }
    }

    /// The data that a write brings.
    pub fn take_data(&self, tag: u16, data: &mut [u8]) -> io::Result<()> {
        self.device.read_exact_at(data, abi::data_offset(tag))
    }

    /// The data that a read wants.
    pub fn give_data(&self, tag: u16, data: &[u8]) -> io::Result<()> {
        self.device.write_all_at(data, abi::data_offset(tag))
    }

    fn command(&mut self, operation: u32, command: IoCommand) -> io::Result<()> {
        let entry = opcode::UringCmd16::new(types::Fd(self.device.as_raw_fd()), operation)
            .cmd(command.bytes())
            .build()
            .user_data(command.tag.into());
        self.push(&entry)
    }

    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the entries point to nothing.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit()?;
        }
        Ok(())
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // SAFETY: nothing reads it any more.
        let _ = unsafe { munmap(self.descriptors.cast(), self.bytes.get()) };
    }
}
