// SPDX-License-Identifier: GPL-2.0-only
//! Reads the output of a disk's server, with time limits.

use std::io::{self, BufRead, BufReader, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use machine::stop::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The longest line.
const LINE_BYTES: u64 = 64 * 1024;
/// The longest pause within a line.
const PAUSE: Duration = Duration::from_secs(20);
const STOPPED: &str = "it was stopped on request";

/// The output of a server. Reading ends when a stop is requested.
pub struct ServerOutput<'a> {
    output: BufReader<Steady<'a>>,
}

impl<'a> ServerOutput<'a> {
    pub fn new(output: PipeReader, stop: &'a Stop) -> Self {
        Self { output: BufReader::new(Steady { output, stop }) }
    }

    /// Waits until there is output or its end, for `limit` at most; returns whether there is.
    ///
    /// # Errors
    /// A stop was requested while there was no output.
    pub fn await_output(&self, limit: Duration) -> Result<bool> {
        if !self.output.buffer().is_empty() {
            return Ok(true);
        }
        let Steady { output, stop } = self.output.get_ref();
        let has_output =
            is_readable(output.as_fd(), stop.as_fd(), limit).context("cannot hear it")?;
        ensure!(has_output || !stop.requested(), STOPPED);
        Ok(has_output)
    }

    /// Reads the next line; empty at the end.
    ///
    /// # Errors
    /// The line is too long, pauses for 20 s, or a stop was requested.
    pub fn read_line(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = (&mut self.output).take(LINE_BYTES).read_line(&mut line)?;
        if u64::try_from(read).is_ok_and(|read| read == LINE_BYTES) && !line.ends_with('\n') {
            bail!("a line has more than {LINE_BYTES} bytes");
        }
        Ok(line)
    }

    /// The output after the lines that were read.
    pub fn rest(&mut self) -> &mut impl BufRead {
        &mut self.output
    }
}

/// An output that may not pause for long.
struct Steady<'a> {
    output: PipeReader,
    stop: &'a Stop,
}

impl Read for Steady<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let has_output = is_readable(self.output.as_fd(), self.stop.as_fd(), PAUSE)?;
        if self.stop.requested() {
            return Err(io::Error::other(STOPPED));
        }
        if !has_output {
            let seconds = PAUSE.as_secs();
            return Err(io::Error::other(format!("it has said nothing for {seconds} s")));
        }
        self.output.read(buffer)
    }
}

/// Waits until `output` is readable, `limit` has passed or `stop` is readable; returns whether
/// `output` is.
fn is_readable(output: BorrowedFd<'_>, stop: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
    let mut fds = [output, stop].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    loop {
        match poll(&mut fds, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            found => return Ok(found? > 0 && !fds[0].revents().is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Instant;

    use machine::process::Process;
    use nix::sys::signal::{Signal, raise};

    use super::*;

    fn run<'a>(script: &str, stop: &'a Stop) -> (Process, ServerOutput<'a>) {
        let (reader, writer) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        let child = Process::spawn(command.args(["-c", script]).stdout(writer)).unwrap();
        (child, ServerOutput::new(reader, stop))
    }

    #[test]
    fn lines_come_one_by_one_and_then_the_rest() {
        let stop = Stop::new().unwrap();
        let (_child, mut output) = run("echo one; echo two; echo three; printf four", &stop);
        assert!(output.await_output(PAUSE).unwrap());
        assert_eq!(output.read_line().unwrap(), "one\n");
        assert!(output.await_output(Duration::ZERO).is_ok());
        assert_eq!(output.read_line().unwrap(), "two\n");
        let rest: Vec<_> = output.rest().lines().map(Result::unwrap).collect();
        assert_eq!(rest, ["three", "four"]);
        assert_eq!(output.read_line().unwrap(), "");
    }

    #[test]
    fn silence_is_not_waited_for_longer_than_the_limit() {
        let stop = Stop::new().unwrap();
        let (mut child, output) = run("exec sleep 60", &stop);
        let start = Instant::now();
        assert!(!output.await_output(Duration::from_millis(50)).unwrap());
        assert!(start.elapsed() < PAUSE);
        assert!(child.kill());
        assert!(output.await_output(PAUSE).unwrap());
    }

    #[test]
    fn a_stop_is_heard_in_the_middle_of_a_line_and_of_a_long_log() {
        let stop = Stop::new().unwrap();
        let (mut slow, mut output) = run("printf half; exec sleep 60", &stop);
        let (mut loud, mut log) = run("exec yes", &stop);
        raise(Signal::SIGTERM).unwrap();
        let start = Instant::now();
        assert_eq!(output.read_line().unwrap_err().to_string(), STOPPED);
        let copied = io::copy(log.rest(), &mut io::sink());
        assert_eq!(copied.unwrap_err().to_string(), STOPPED);
        assert!(start.elapsed() < PAUSE);
        assert!(slow.kill() && loud.kill());
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let stop = Stop::new().unwrap();
        let (mut child, mut output) = run("exec head -c 1000000 /dev/zero", &stop);
        let refusal = output.read_line().unwrap_err().to_string();
        assert!(refusal.contains("more than 65536 bytes"), "{refusal}");
        assert!(child.kill());
    }
}
