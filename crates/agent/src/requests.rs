// SPDX-License-Identifier: GPL-2.0-only
//! Reads the lines of a session's input; a request to stop ends the wait for them.

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;

use anyhow::{Context, Result, ensure};
use machine::stop::Stop;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Most bytes of a request.
const LONGEST: usize = 16 << 20;

pub struct Requests<Input> {
    input: Input,
    /// Bytes that were read but not yet handed on.
    buffer: Vec<u8>,
    has_ended: bool,
}

impl<Input: Read + AsFd> Requests<Input> {
    pub fn new(input: Input) -> Self {
        Self { input, buffer: Vec::new(), has_ended: false }
    }

    /// Returns the next line that is not blank. None at the end of the input, or when the agent is
    /// to stop.
    ///
    /// # Errors
    /// The input cannot be read, is not valid UTF-8, or a line has more than 16 MiB.
    pub fn next(&mut self, stop: &Stop) -> Result<Option<String>> {
        loop {
            if stop.requested() {
                return Ok(None);
            }
            match self.buffer.iter().position(|&byte| byte == b'\n') {
                Some(end) => {
                    let line: Vec<u8> = self.buffer.drain(..=end).collect();
                    if let Some(line) = text(line)? {
                        return Ok(Some(line));
                    }
                }
                None if self.has_ended => return text(std::mem::take(&mut self.buffer)),
                None => self.read(stop)?,
            }
        }
    }

    /// Waits for more, or for the request to stop.
    fn read(&mut self, stop: &Stop) -> Result<()> {
        ensure!(self.buffer.len() < LONGEST, "a request has more than {LONGEST} bytes");
        let mut fds = [
            PollFd::new(self.input.as_fd(), PollFlags::POLLIN),
            PollFd::new(stop.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error).context("cannot wait for a request"),
        }
        if !fds[0].any().unwrap_or(false) {
            return Ok(());
        }
        let mut piece = [0; 64 << 10];
        match self.input.read(&mut piece) {
            Ok(length) => {
                self.has_ended = length == 0;
                self.buffer.extend_from_slice(&piece[..length]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error).context("cannot read a request"),
        }
    }
}

/// Converts a line to text; None if it is blank.
fn text(line: Vec<u8>) -> Result<Option<String>> {
    let line = String::from_utf8(line).context("a request is not valid UTF-8")?;
    Ok(Some(line).filter(|line| !line.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};

    use super::*;

    #[test]
    fn lines_come_whole_however_they_were_written() {
        let (reader, mut writer) = pipe().unwrap();
        let stop = Stop::new().unwrap();
        let mut requests = Requests::new(reader);
        writer.write_all(b"one\n\n  \ntw").unwrap();
        assert_eq!(requests.next(&stop).unwrap().as_deref(), Some("one\n"));
        writer.write_all(b"o\nthree").unwrap();
        drop(writer);
        assert_eq!(requests.next(&stop).unwrap().as_deref(), Some("two\n"));
        assert_eq!(requests.next(&stop).unwrap().as_deref(), Some("three"));
        assert_eq!(requests.next(&stop).unwrap(), None);
    }

    #[test]
    fn bytes_that_are_not_text_are_refused() {
        let (reader, mut writer) = pipe().unwrap();
        writer.write_all(b"\xff\xfe\n").unwrap();
        let error = Requests::new(reader).next(&Stop::new().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "a request is not valid UTF-8");
    }
}
