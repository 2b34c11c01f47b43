// SPDX-License-Identifier: GPL-2.0-only
//! Ends a program when the process that started it ends, however and however early that happens.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// Makes this process get `signal` when the thread of `parent` that started it ends. For use
/// between fork and exec: two plain system calls.
///
/// # Errors
/// `parent` has ended already, so the signal would not be sent.
pub fn bind(parent: Pid, signal: Signal) -> io::Result<()> {
    prctl::set_pdeathsig(signal)?;
    // Check after the request, or a parent that ends between the two would be missed.
    match Pid::parent() == parent {
        true => Ok(()),
        false => Err(Errno::ECHILD.into()),
    }
}

/// Makes `command` a program that is killed when the thread that starts it ends.
pub fn bind_to_us(command: &mut Command) -> &mut Command {
    let parent = Pid::this();
    let enter = move || bind(parent, Signal::SIGKILL);
    // SAFETY: `bind` may be called between fork and exec.
    unsafe { command.pre_exec(enter) }
}
