// SPDX-License-Identifier: GPL-2.0-only
//! Pipes and sockets between actors.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use anyhow::{Context, Result, ensure};
use rustix::io::{Errno, FdFlags, fcntl_setfd, read, write};
use rustix::net::sockopt::{set_socket_send_buffer_size, socket_send_buffer_size};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

/// The most that is given to the kernel at once.
const PIECE: usize = 1 << 16;
static ZEROS: [u8; PIECE] = [0; PIECE];

/// What is sent at one end is received at the other.
#[derive(Debug)]
pub struct Channel {
    from: OwnedFd,
    to: OwnedFd,
}

impl Channel {
    pub fn pipe(bytes: usize) -> Result<Self> {
        let (from, to) = pipe_with(PipeFlags::CLOEXEC).context("cannot open a pipe")?;
        fcntl_setpipe_size(&to, bytes).with_context(|| {
            format!(
                "cannot make a pipe of {bytes} bytes (fs.pipe-max-size, fs.pipe-user-pages-soft)"
            )
        })?;
        Ok(Self { from, to })
    }

    pub fn socket(bytes: usize) -> Result<Self> {
        let (family, flags) = (AddressFamily::UNIX, SocketFlags::CLOEXEC);
        let (from, to) = socketpair(family, SocketType::STREAM, flags, None)
            .context("cannot open a pair of sockets")?;
        set_socket_send_buffer_size(&to, bytes).context("cannot set a socket's buffer")?;
        // The kernel doubles what it is asked for, and takes less than that in silence.
        let got = socket_send_buffer_size(&to).context("cannot read a socket's buffer")? / 2;
        ensure!(
            got >= bytes,
            "sockets have at most {got} bytes here, not {bytes} (net.core.wmem_max)"
        );
        Ok(Self { from, to })
    }

    /// The ends that a program before this one has left.
    pub fn of_ends((from, to): (OwnedFd, OwnedFd)) -> Self {
        Self { from, to }
    }

    /// The numbers of the ends, for `take`.
    pub fn ends(&self) -> (i32, i32) {
        (self.from.as_raw_fd(), self.to.as_raw_fd())
    }

    /// Keeps the ends open when this process goes on in a new program.
    pub fn keep(&self) -> Result<()> {
        for end in [&self.from, &self.to] {
            fcntl_setfd(end, FdFlags::empty()).context("cannot keep a pipe")?;
        }
        Ok(())
    }

    /// Sends `bytes`. Each call of `is_over` follows an interruption; false if it was over.
    pub fn send(&self, bytes: usize, is_over: impl Fn() -> bool) -> Result<bool> {
        whole(bytes, is_over, |left| write(self.to.as_fd(), &ZEROS[..left])).context("cannot send")
    }

    /// Receives `bytes`, the same.
    pub fn receive(&self, bytes: usize, is_over: impl Fn() -> bool) -> Result<bool> {
        let mut buffer = [0; PIECE];
        let from: BorrowedFd<'_> = self.from.as_fd();
        whole(bytes, is_over, |left| read(from, &mut buffer[..left])).context("cannot receive")
    }
}

fn whole(
    bytes: usize,
    is_over: impl Fn() -> bool,
    mut part: impl FnMut(usize) -> rustix::io::Result<usize>,
) -> rustix::io::Result<bool> {
    let mut left = bytes;
    while left > 0 {
        match part(left.min(PIECE)) {
            Ok(done) => left -= done,
            Err(Errno::INTR) if is_over() => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn messages_larger_than_the_buffer_arrive_whole() {
        for channel in [Channel::pipe(4096).unwrap(), Channel::socket(4096).unwrap()] {
            thread::scope(|scope| {
                let sent = scope.spawn(|| channel.send(1 << 20, || false).unwrap());
                assert!(channel.receive(1 << 20, || false).unwrap());
                assert!(sent.join().unwrap());
            });
        }
    }

    #[test]
    fn what_a_kernel_has_no_room_for_is_said() {
        let error = format!("{:#}", Channel::socket(1 << 30).unwrap_err());
        assert!(error.contains("net.core.wmem_max"), "{error}");
    }
}
