// SPDX-License-Identifier: GPL-2.0-only
//! A program that ends when the process that started it does, however that ends, and however early.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// From now on this process gets `signal` when the thread of `parent` that started it ends. For use between fork and
/// exec: two plain system calls.
///
/// # Errors
/// `parent` has ended already: nobody would send the signal.
pub fn bind(parent: Pid, signal: Signal) -> io::Result<()> {
    prctl::set_pdeathsig(signal)?;
    // Asked after the request, and not before: a parent that ends between the two would be missed.
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
