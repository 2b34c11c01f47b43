// SPDX-License-Identifier: GPL-2.0-only
//! A disk that this process serves, from its start to its end: the driver's device, and the thread
//! that serves it.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use disk_model::Disk;
use elevators::Queue;
use machine::sched::{self, Policy, THIS_THREAD};
use nix::libc;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;

use crate::catalogue::Attribution;
use crate::driver::abi::{self, DeviceParameters};
use crate::driver::channel::Channel;
use crate::driver::control::Control;
use crate::driver::device::{ENDED, HURRY, block_device, block_name, character_device};
use crate::error::DiskError;
use crate::front;
use crate::identity::{Identity, Wanted};
use crate::server::data_file::DataFile;
use crate::server::mounts;
use crate::server::spindle::Spindle;
use crate::server::store::Store;
use crate::server::{Done, Server};
use crate::setup::{self, Setup};
use crate::users;

/// A started disk, with the thread that serves it.
pub struct OwnDisk {
    control: Control,
    pub number: u32,
    server: Option<JoinHandle<io::Result<Done>>>,
    hurry: Arc<AtomicBool>,
    data: Option<DataFile>,
}

impl OwnDisk {
    pub fn start(setup: &Setup) -> Result<Self, DiskError> {
        let mut control = Control::open()?;
        let data = setup.file.as_deref().map(DataFile::create).transpose()?;
        let mut store = match &data {
            Some(data) => Store::in_file(data, setup.sectors * 512, setup::MAX_KB * 1024)?,
            None => Store::in_memory(setup.sectors * 512)?,
        };
        if let Some(content) = &setup.content {
            store.fill(content)?;
        }
        let failed = |error| DiskError::Ublk { what: "leaving the machine's mounts", error };
        mounts::leave().map_err(failed)?;
        let number = control.add(setup.depth(), setup::MAX_KB * 1024)?;
        // From here on, dropping it removes the device.
        let mut disk = Self { control, number, server: None, hurry: Arc::default(), data };
        disk.control.describe(number, parameters(setup))?;
        disk.server = Some(serve(number, setup, store, Arc::clone(&disk.hurry))?);
        disk.control.start(number)?;
        front::prepare(&block_name(number), &setup.elevator)?;
        Ok(disk)
    }

    /// Keeps the file of the disk after its end, because the disk has been announced.
    pub fn keep_data(&mut self) {
        self.data.iter_mut().for_each(DataFile::keep);
    }

    /// Waits until a signal asks for the end and the disk is not in use, a second signal insists,
    /// or the server has ended.
    pub fn await_end(&self, signals: &SigSet) {
        let mut insists = false;
        loop {
            match signals.wait() {
                Ok(HURRY) => self.hurry.store(true, Ordering::Relaxed),
                Ok(Signal::SIGTERM | Signal::SIGINT)
                    if users::is_claimed(self.number) && !insists =>
                {
                    eprintln!(
                        "runoff-agent: {} is in use: unmount it, or end this program once more to take it away",
                        block_device(self.number).display()
                    );
                    insists = true;
                }
                _ => return,
            }
        }
    }

    pub fn end(mut self) -> Result<Done, DiskError> {
        self.control.stop(self.number)?;
        let server = self.server.take().expect("a started disk has a server");
        let done = server.join().unwrap_or_else(|_| Err(io::Error::other("it panicked")));
        done.map_err(|error| DiskError::Server { error })
    }
}

impl Drop for OwnDisk {
    fn drop(&mut self) {
        // Without a server, or after its end, there is nothing to stop.
        if let Some(server) = self.server.take() {
            let _ = self.control.stop(self.number);
            let _ = server.join();
        }
        if let Err(error) = self.control.delete(self.number) {
            eprintln!("runoff-agent: {error}");
        }
    }
}

fn parameters(setup: &Setup) -> DeviceParameters {
    let mut attrs = 0;
    if setup.is_rotational() {
        attrs |= abi::ATTR_ROTATIONAL;
    }
    // Without a cache nothing is lost, and the kernel then asks for no flushes.
    if setup.has_write_cache() {
        attrs |= abi::ATTR_VOLATILE_CACHE;
    }
    DeviceParameters {
        attrs,
        logical_bs_shift: 9,
        physical_bs_shift: 9,
        io_opt_shift: 12,
        io_min_shift: 9,
        max_sectors: setup::MAX_KB * 2,
        dev_sectors: setup.sectors,
        ..DeviceParameters::default()
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
    // Behind the kernel's elevators it is only for the times at which requests began to wait, which
    // are optional.
    let needs_identity = setup.attribution() == Attribution::Process || setup.with_log;
    let has_identity = needs_identity || setup.attribution() == Attribution::Kernel;
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let watch = || Identity::of_disk(&block_name(number), wanted);
        let identity = match has_identity.then(watch) {
            Some(Err(error)) if needs_identity => {
                let _ = sender.send(Err(DiskError::NoIdentity { elevator, error }));
                return Ok(Done::default());
            }
            found => found.and_then(Result::ok),
        };
        let started = stand_apart().and_then(|()| {
            let device = File::options().read(true).write(true).open(character_device(number))?;
            let channel = Channel::open(device, depth)?;
            Server::new(channel, depth, sectors, store, spindle, identity, wanted.behind_elevator)
        });
        match started {
            Ok(server) => {
                let _ = sender.send(Ok(()));
                let done = server.run(&hurry);
                let _ = kill(Pid::this(), ENDED);
                done
            }
            Err(error) => {
                let _ = sender.send(Err(DiskError::Server { error }));
                Ok(Done::default())
            }
        }
    });
    let lost = || DiskError::Server { error: io::Error::other("its thread has ended") };
    receiver.recv().map_err(|_| lost())??;
    Ok(thread)
}

/// Makes the calling thread one that its own disk cannot block and that other work cannot delay.
fn stand_apart() -> io::Result<()> {
    /// linux/prctl.h: the kernel never frees memory for this task by writing to a disk, which may
    /// be its own.
    const PR_SET_IO_FLUSHER: libc::c_int = 57;
    /// A priority above all tasks but the kernel's.
    const PRIORITY: u8 = 50;
    sched::set_policy(THIS_THREAD, Policy::Fifo { priority: PRIORITY, reset_on_fork: false })?;
    // SAFETY: plain numbers.
    let failed = unsafe {
        libc::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) != 0
            // No page is swapped out; pages that were never written still take no memory.
            || libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) != 0
    };
    if failed {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
