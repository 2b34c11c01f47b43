// SPDX-License-Identifier: GPL-2.0-only
//! The character device of one disk: its requests, their data, and the answers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use nix::libc;

use crate::driver::abi::{self, Descriptor, IoCommand};
use crate::driver::shared::Shared;

/// Entries of the submission ring; more are submitted in between.
const ENTRIES: u32 = 128;
/// Marks the poll of the watched file among the requests.
const WATCHED: u64 = u64::MAX;

/// The result instead of a request when the disk was stopped.
const STOPPED: i32 = -libc::ENODEV;

/// An event of the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    Request(u16),
    /// The disk was stopped; this tag will not come back.
    Closed,
    /// The watched file can be read.
    Watched,
}

pub struct Channel {
    ring: IoUring<squeue::Entry, cqueue::Entry>,
    device: File,
    /// The request of each tag.
    descriptors: Shared<Descriptor>,
}

impl Channel {
    /// Opens the channel of `device`, a character device with one queue of `depth`.
    pub fn open(device: File, depth: u16) -> io::Result<Self> {
        let descriptors = Shared::map(&device, abi::DESCRIPTORS, depth.into())?;
        // A completion for every tag may wait, and one for the watched file.
        let ring =
            IoUring::builder().setup_cqsize(2 * u32::from(depth).max(ENTRIES)).build(ENTRIES)?;
        Ok(Self { ring, device, descriptors })
    }

    /// Asks for the first request of `tag`.
    pub fn fetch(&mut self, tag: u16) -> io::Result<()> {
        self.command(abi::FETCH_REQ, IoCommand { tag, ..IoCommand::default() })
    }

    /// Answers the request of `tag` with the bytes that were moved or a negative errno, and asks for the next one.
    pub fn commit(&mut self, tag: u16, result: i32) -> io::Result<()> {
        self.command(abi::COMMIT_AND_FETCH_REQ, IoCommand { tag, result, ..IoCommand::default() })
    }

    /// Completes with `Watched` once when `fd` can be read.
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
    ///
    /// # Errors
    /// The driver refused a command, or the file cannot be watched: a tag is lost, and a process
    /// that waits for its request would wait for ever if the device stayed.
    pub fn completion(&mut self) -> io::Result<Option<Completion>> {
        let completion = self.ring.completion().next();
        completion.map(|entry| meaning(entry.user_data(), entry.result())).transpose()
    }

    /// The request that `tag` stands for now.
    pub fn descriptor(&self, tag: u16) -> Descriptor {
        // The driver writes it only before it passes the tag.
        self.descriptors.read(tag.into())
    }

    /// Reads the data of a write.
    pub fn take_data(&self, tag: u16, data: &mut [u8]) -> io::Result<()> {
        self.device.read_exact_at(data, abi::data_offset(tag))
    }

    /// Writes the data for a read.
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

/// The meaning of a completion. Only UBLK_IO_RES_ABORT, which is -ENODEV, means that the disk was
/// stopped (Linux include/uapi/linux/ublk_cmd.h).
fn meaning(user_data: u64, result: i32) -> io::Result<Completion> {
    let failed = |what: &str| {
        let error = io::Error::from_raw_os_error(result.saturating_neg());
        io::Error::new(error.kind(), format!("{what}: {error}"))
    };
    if user_data == WATCHED {
        return if result < 0 { Err(failed("watching exits")) } else { Ok(Completion::Watched) };
    }
    let tag = u16::try_from(user_data).map_err(|_| io::Error::other("a completion of no tag"))?;
    match result {
        0 => Ok(Completion::Request(tag)),
        STOPPED => Ok(Completion::Closed),
        ..0 => Err(failed(&format!("the driver refused a command for tag {tag}"))),
        1.. => Err(io::Error::other(format!("the driver answered {result} for tag {tag}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stopped_disk_closes_its_tags() {
        assert_eq!(meaning(7, 0).unwrap(), Completion::Request(7));
        assert_eq!(meaning(7, -libc::ENODEV).unwrap(), Completion::Closed);
        assert_eq!(meaning(WATCHED, libc::POLLIN.into()).unwrap(), Completion::Watched);
    }

    #[test]
    fn every_other_answer_of_the_driver_is_an_error_with_its_name() {
        for errno in [libc::EINVAL, libc::EBUSY, libc::EIO, libc::ECANCELED, libc::EOPNOTSUPP] {
            let error = meaning(7, -errno).unwrap_err().to_string();
            assert!(
                error.contains("tag 7") && error.contains(&format!("os error {errno}")),
                "{error}"
            );
            meaning(WATCHED, -errno).unwrap_err();
        }
        meaning(7, 1).unwrap_err();
        meaning(7, i32::MIN).unwrap_err();
        meaning(u64::from(u16::MAX) + 1, 0).unwrap_err();
    }
}
