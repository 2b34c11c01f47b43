// SPDX-License-Identifier: GPL-2.0-only
//! One disk from its making to its end: the driver's device, and the thread that serves it.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use ::disk::Disk;
use elevators::Queue;
use nix::libc;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;

use super::abi::{self, Parameters};
use super::channel::Channel;
use super::control::{self, Control};
use super::error::DiskError;
use super::identity::{Identity, Wanted};
use super::server::{Done, Server};
use super::setup::{self, Setup};
use super::spindle::Spindle;
use super::store::Store;
use super::users::Users;
use super::{ENDED, HURRY, settings, users};

/// A disk that is there, with the thread that serves it.
pub struct Served {
    control: Control,
    pub number: u32,
    server: Option<JoinHandle<io::Result<Done>>>,
    hurry: Arc<AtomicBool>,
    /// It was taken away from somebody.
    is_abandoned: bool,
}

impl Served {
    pub fn start(setup: &Setup) -> Result<Self, DiskError> {
        let mut control = Control::open()?;
        let mut store = match &setup.file {
            Some(path) => Store::in_file(path, setup.sectors * 512, setup::MAX_KB * 1024)?,
            None => Store::in_memory(setup.sectors * 512)?,
        };
        if let Some(content) = &setup.content {
            store.fill(content)?;
        }
        let number = control.add(setup.depth(), setup::MAX_KB * 1024)?;
        // From here on its end takes the device away again.
        let mut served =
            Self { control, number, server: None, hurry: Arc::default(), is_abandoned: false };
        served.control.describe(number, parameters(setup))?;
        served.server = Some(serve(number, setup, store, Arc::clone(&served.hurry))?);
        served.control.start(number)?;
        settings::apply(&format!("ublkb{number}"), setup)?;
        Ok(served)
    }

    /// Returns when a signal asks for the end and nobody uses the disk, or insists, or the server has ended.
    pub fn await_end(&self, signals: &SigSet) {
        let mut insists = false;
        loop {
            match signals.wait() {
                Ok(HURRY) => self.hurry.store(true, Ordering::Relaxed),
                Ok(Signal::SIGTERM | Signal::SIGINT)
                    if users::is_claimed(self.number) && !insists =>
                {
                    eprintln!(
                        "runoff-agent: /dev/ublkb{} is in use: unmount it, or end this program once more to take it away",
                        self.number
                    );
                    insists = true;
                }
                _ => return,
            }
        }
    }

    pub fn end(mut self) -> Result<Done, DiskError> {
        self.is_abandoned = !Users::of(self.number).is_empty();
        self.control.stop(self.number)?;
        let server = self.server.take().expect("a started disk has a server");
        let done = server.join().unwrap_or_else(|_| Err(io::Error::other("it panicked")));
        done.map_err(|error| DiskError::Server { error })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Without a server, or after its end, there is nothing to stop.
        if let Some(server) = self.server.take() {
            let _ = self.control.stop(self.number);
            let _ = server.join();
        }
        let deleted = if self.is_abandoned {
            self.control.abandon(self.number)
        } else {
            self.control.delete(self.number)
        };
        if let Err(error) = deleted {
            eprintln!("runoff-agent: {error}");
        }
    }
}

fn parameters(setup: &Setup) -> Parameters {
    let mut attrs = 0;
    if setup.is_rotational() {
        attrs |= abi::ATTR_ROTATIONAL;
    }
    // Without a cache nothing is lost, and the kernel then asks for no flushes.
    if setup.has_write_cache() {
        attrs |= abi::ATTR_VOLATILE_CACHE;
    }
    Parameters {
        attrs,
        logical_bs_shift: 9,
        physical_bs_shift: 9,
        io_opt_shift: 12,
        io_min_shift: 9,
        max_sectors: setup::MAX_KB * 2,
        dev_sectors: setup.sectors,
        ..Parameters::default()
    }
}

/// Starts the thread of the server; returns when it has fetched every tag.
fn serve(
    number: u32,
    setup: &Setup,
    store: Store,
    hurry: Arc<AtomicBool>,
) -> Result<JoinHandle<io::Result<Done>>, DiskError> {
    let spindle =
        Spindle::new(Queue::new(&setup.served_with()), Disk::new(&setup.model), setup.with_log);
    let (depth, sectors) = (setup.depth(), setup.sectors);
    let elevator = setup.elevator_name();
    let wanted = Wanted { behind_elevator: setup.is_behind_elevator(), names: setup.with_log };
    // Behind the kernel's elevators it tells since when requests wait, which they can do without.
    let needs_identity = setup.identity() == "process" || setup.with_log;
    let has_identity = needs_identity || setup.identity() == "kernel";
    let (tell, told) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let watch = || Identity::of_disk(&format!("ublkb{number}"), wanted);
        let identity = match has_identity.then(watch) {
            Some(Err(error)) if needs_identity => {
                let _ = tell.send(Err(DiskError::NoIdentity { elevator, error }));
                return Ok(Done::default());
            }
            found => found.and_then(Result::ok),
        };
        let started = stand_apart().and_then(|()| {
            let path = control::character_device(number);
            let device = File::options().read(true).write(true).open(path)?;
            let channel = Channel::open(device, depth)?;
            Server::new(channel, depth, sectors, store, spindle, identity, wanted.behind_elevator)
        });
        match started {
            Ok(server) => {
                let _ = tell.send(Ok(()));
                let done = server.run(&hurry);
                let _ = kill(Pid::this(), ENDED);
                done
            }
            Err(error) => {
                let _ = tell.send(Err(DiskError::Server { error }));
                Ok(Done::default())
            }
        }
    });
    let lost = || DiskError::Server { error: io::Error::other("its thread has ended") };
    told.recv().map_err(|_| lost())??;
    Ok(thread)
}

/// The calling thread becomes one that its own disk cannot stop, and that no work beside it delays.
fn stand_apart() -> io::Result<()> {
    /// linux/prctl.h: memory for this task is never found by writing to a disk, its own maybe.
    const PR_SET_IO_FLUSHER: libc::c_int = 57;
    /// Above everything else that is not the kernel's.
    const PRIORITY: libc::c_int = 50;
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: plain numbers, and a struct that outlives the call.
    let failed = unsafe {
        libc::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) != 0
            || libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) != 0
            // Nothing is swapped out; pages that were never written still take no memory.
            || libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) != 0
    };
    if failed {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
