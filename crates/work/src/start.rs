// SPDX-License-Identifier: GPL-2.0-only
//! Starts many threads or processes: all of them, or none and a message that names the one that was
//! refused.

use std::io;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, Builder};

use anyhow::{Error, Result, anyhow};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// More files than a process has open before it starts others.
const OWN_FILES: u64 = 64;

/// Starts `count` of `what` by calling `start` with 0, 1, ... The first failure ends it: `halt` tells all that have
/// started to end, before the first of them is dropped, which may wait for it.
///
/// # Errors
/// One of them cannot be started; the message says which one, why, and the way out.
pub fn all<Started>(
    what: &str,
    count: usize,
    mut start: impl FnMut(usize) -> Result<Started>,
    halt: impl Fn(&Started),
) -> Result<Vec<Started>> {
    allow_files(count);
    let mut all = Vec::new();
    for index in 0..count {
        match start(index) {
            Ok(started) => all.push(started),
            Err(error) => {
                all.iter().for_each(halt);
                return Err(refused(&format!("{what} {} of {count}", index + 1), &error));
            }
        }
    }
    Ok(all)
}

/// Raises the limit of open files to one or two for each, if this process may; otherwise the first
/// without room fails.
fn allow_files(count: usize) {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let wanted = u64::try_from(2 * count).map_or(hard, |wanted| hard.min(wanted + OWN_FILES));
    if wanted > soft {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
    }
}

/// The error for one that could not be started.
pub fn refused(which: &str, error: &Error) -> Error {
    let no_more = error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::WouldBlock);
    let way_out = if no_more {
        "; ask for fewer, or raise the limit of this user or control group (ulimit -u, pids.max)"
    } else {
        ""
    };
    anyhow!("cannot start {which}: {error:#}{way_out}")
}

/// Runs `work` with 0, 1, ... in `count` threads that all begin when the last of them is there.
///
/// # Errors
/// A thread cannot be started: the others end without having begun. Or one ended by a panic.
pub fn together<Found: Send>(
    count: usize,
    builder: impl Fn() -> Builder,
    work: impl Fn(usize) -> Found + Sync,
) -> Result<Vec<Found>> {
    let gate = Gate::new(count);
    let come_and_work = |index| gate.pass().then(|| work(index));
    thread::scope(|scope| {
        let start = |index| Ok(builder().spawn_scoped(scope, move || come_and_work(index))?);
        let threads = all("thread", count, start, |_| gate.call_off());
        threads?
            .into_iter()
            .map(|thread| {
                thread.join().ok().flatten().ok_or_else(|| anyhow!("a thread ended early"))
            })
            .collect()
    })
}

/// A barrier for threads that may never all come.
struct Gate {
    wanted: usize,
    state: Mutex<Waiting>,
    moved: Condvar,
}

#[derive(Default)]
struct Waiting {
    there: usize,
    called_off: bool,
}

impl Gate {
    fn new(wanted: usize) -> Self {
        Self { wanted, state: Mutex::default(), moved: Condvar::new() }
    }

    /// Waits for the last one; returns false if it will never come.
    fn pass(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.there += 1;
        if state.there == self.wanted {
            self.moved.notify_all();
        }
        let waiting = |state: &mut Waiting| state.there < self.wanted && !state.called_off;
        let state = self.moved.wait_while(state, waiting).unwrap_or_else(PoisonError::into_inner);
        !state.called_off
    }

    fn call_off(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).called_off = true;
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_thread_begins_before_the_last_is_there() {
        let come = AtomicUsize::new(0);
        let builder = || {
            come.fetch_add(1, Ordering::SeqCst);
            Builder::new()
        };
        let seen = together(20, builder, |index| (index, come.load(Ordering::SeqCst))).unwrap();
        assert_eq!(seen, (0..20).map(|index| (index, 20)).collect::<Vec<_>>());
    }

    #[test]
    fn a_refused_thread_calls_the_others_off() {
        // No address space has room for such a stack.
        let begun = AtomicUsize::new(0);
        let asked = AtomicUsize::new(0);
        let builder = || match asked.fetch_add(1, Ordering::SeqCst) {
            5 => Builder::new().stack_size(1 << 60),
            _ => Builder::new(),
        };
        let error = together(9, builder, |_| begun.fetch_add(1, Ordering::SeqCst)).unwrap_err();
        assert!(error.to_string().starts_with("cannot start thread 6 of 9: "), "{error}");
        assert_eq!(begun.into_inner(), 0);
    }

    #[test]
    fn a_panic_is_an_error() {
        let error = together(2, Builder::new, |index| assert_eq!(index, 0)).unwrap_err();
        assert_eq!(error.to_string(), "a thread ended early");
    }

    #[test]
    fn the_way_out_is_named_for_limits_only() {
        let full = refused("it", &io::Error::from_raw_os_error(nix::libc::EAGAIN).into());
        assert!(full.to_string().contains("ulimit -u"), "{full}");
        let other = refused("process 3 of 4", &anyhow!("no pipe"));
        assert_eq!(other.to_string(), "cannot start process 3 of 4: no pipe");
    }
}
