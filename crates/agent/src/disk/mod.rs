// SPDX-License-Identifier: GPL-2.0-only
//! A block device whose requests go through an elevator and the model of a rotational disk, by ublk_drv
//! (Linux 6.5 and later; specs/benchmarks/iosched.md section 11).

mod abi;
mod channel;
mod control;
mod error;
mod identity;
mod mounted;
mod server;
mod settings;
mod setup;
mod spindle;
mod store;

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use ::disk::Disk;
use clap::Args;
use elevators::Queue;
use nix::libc;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

pub use control::sweep;
pub use error::DiskError;
pub use mounted::Mounted;
use setup::Setup;
pub use spindle::Counts;

use abi::Parameters;
use channel::Channel;
use control::Control;
use identity::Identity;
use server::Server;
use spindle::Spindle;
use store::Store;

/// Says that the server has ended by itself.
const ENDED: Signal = Signal::SIGUSR1;

/// From now on nothing takes time, and nothing is counted: the disk is to be emptied and taken away.
const HURRY: Signal = Signal::SIGUSR2;

#[derive(Args)]
pub struct Arguments {
    /// noop, deadline, anticipatory or cfq; or the kernel's own none, mq-deadline, kyber or bfq
    #[arg(long)]
    elevator: String,
    /// ide2003, scsi10k or none, with parameters as NAME:key=value,...
    #[arg(long, default_value = "ide2003")]
    model: String,
    /// Size; that of the model without it
    #[arg(long, value_name = "MB")]
    size_mb: Option<u64>,
    /// Keep the data in this file, which is emptied first, instead of memory
    #[arg(long)]
    file: Option<PathBuf>,
    /// Put these blocks on the disk first: records of an offset (8 bytes, least first) and 4096 bytes
    #[arg(long)]
    content: Option<PathBuf>,
    /// The elevator's, as key=value
    parameters: Vec<String>,
}

/// Prints the device as one JSON line, serves it until SIGTERM or SIGINT, and prints what it has done.
///
/// While somebody uses the device it stays, and says so; a second signal removes it nevertheless: its
/// users then get I/O errors.
pub fn run(arguments: &Arguments) -> Result<ExitCode, DiskError> {
    let setup = Setup::new(
        &arguments.elevator,
        &arguments.parameters,
        &arguments.model,
        arguments.size_mb,
    )?;
    let (file, content) = (arguments.file.clone(), arguments.content.clone());
    let setup = Setup { file, content, ..setup };
    let signals = SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT, ENDED, HURRY]);
    signals.thread_block().map_err(|errno| DiskError::Server { error: errno.into() })?;
    let served = Served::start(&setup)?;
    let announced = json!({
        "device": control::block_device(served.number),
        "elevator": setup.elevator_name(),
        "identity": setup.identity(),
    });
    println!("{announced}");
    served.await_end(&signals);
    let counts = served.end()?;
    println!("{}", serde_json::to_string(&counts).expect("numbers are JSON"));
    Ok(ExitCode::SUCCESS)
}

/// Every elevator and every model of a disk, as users see them.
pub fn catalogue() -> serde_json::Value {
    json!({
        "elevators": elevators::catalogue::ELEVATORS,
        "kernel": setup::KERNEL_ELEVATORS,
        "disk": ::disk::DISK,
        "models": ::disk::DISKS,
    })
}

/// A disk that is there, with the thread that serves it.
struct Served {
    control: Control,
    number: u32,
    server: Option<JoinHandle<io::Result<Counts>>>,
    hurry: Arc<AtomicBool>,
}

impl Served {
    fn start(setup: &Setup) -> Result<Self, DiskError> {
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
        let mut served = Self { control, number, server: None, hurry: Arc::default() };
        served.control.describe(number, parameters(setup))?;
        served.server = Some(serve(number, setup, store, Arc::clone(&served.hurry))?);
        served.control.start(number)?;
        settings::apply(&format!("ublkb{number}"), setup)?;
        Ok(served)
    }

    fn await_end(&self, signals: &SigSet) {
        let mut insists = false;
        loop {
            match signals.wait() {
                Ok(HURRY) => self.hurry.store(true, Ordering::Relaxed),
                Ok(Signal::SIGTERM | Signal::SIGINT) if self.is_used() && !insists => {
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

    /// Mounted, or open for itself alone in another way.
    fn is_used(&self) -> bool {
        let path = control::block_device(self.number);
        let opened = File::options().read(true).custom_flags(libc::O_EXCL).open(path);
        opened.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
    }

    fn end(mut self) -> Result<Counts, DiskError> {
        self.control.stop(self.number)?;
        let server = self.server.take().expect("a started disk has a server");
        let counts = server.join().unwrap_or_else(|_| Err(io::Error::other("it panicked")));
        counts.map_err(|error| DiskError::Server { error })
    }
}

impl Drop for Served {
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
) -> Result<JoinHandle<io::Result<Counts>>, DiskError> {
    let spindle = Spindle::new(Queue::new(&setup.served_with()), Disk::new(&setup.model));
    let (depth, sectors) = (setup.depth(), setup.sectors);
    let elevator = setup.elevator_name();
    let needs_identity = setup.identity() == "process";
    let (tell, told) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let identity = match needs_identity.then(|| Identity::of_disk(&format!("ublkb{number}"))) {
            Some(Err(error)) => {
                let _ = tell.send(Err(DiskError::NoIdentity { elevator, error }));
                return Ok(Counts::default());
            }
            found => found.and_then(Result::ok),
        };
        let started = stand_apart().and_then(|()| {
            let path = control::character_device(number);
            let device = File::options().read(true).write(true).open(path)?;
            let channel = Channel::open(device, depth)?;
            Server::new(channel, depth, sectors, store, spindle, identity)
        });
        match started {
            Ok(server) => {
                let _ = tell.send(Ok(()));
                let counts = server.run(&hurry);
                let _ = kill(Pid::this(), ENDED);
                counts
            }
            Err(error) => {
                let _ = tell.send(Err(DiskError::Server { error }));
                Ok(Counts::default())
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
