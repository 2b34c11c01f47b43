// SPDX-License-Identifier: GPL-2.0-only
//! The end of a load, at SIGTERM.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

static END: AtomicBool = AtomicBool::new(false);

extern "C" fn note_end(_signal: nix::libc::c_int) {
    END.store(true, Ordering::Relaxed);
}

/// The request to end.
pub struct EndFlag(());

impl EndFlag {
    /// Sets the flag at SIGTERM. Waiting system calls return then, so that it is seen at once.
    pub fn on_signal() -> Result<Self> {
        let action =
            SigAction::new(SigHandler::Handler(note_end), SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler only stores to an atomic.
        unsafe { sigaction(Signal::SIGTERM, &action) }?;
        Ok(Self(()))
    }

    pub fn is_set(&self) -> bool {
        END.load(Ordering::Relaxed)
    }

    /// Sets the flag, to end a load when one of its threads cannot go on.
    pub fn set(&self) {
        END.store(true, Ordering::Relaxed);
    }
}
