// SPDX-License-Identifier: GPL-2.0-only
//! A disk of a sample: served by a process of its own, mounted while the sample runs, gone afterwards.

use std::cell::Cell;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::{major, minor, stat};
use nix::unistd::Pid;
use serde::Deserialize;

use super::account::Counts;
use super::in_charge::InCharge;
use super::{HURRY, pieces};
use crate::protocol;
use crate::stop;
use crate::work::process::now_ns;

/// What a server may take to end when nobody uses its disk any more.
const END_LIMIT: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(5);
/// After so long it is asked again.
const INSIST_MS: u16 = 5000;
/// It has a machine of its own, which sees all of its mounts.
const GUESTS_AGENT: u32 = 1;

#[derive(Deserialize)]
struct Announced {
    device: PathBuf,
}

pub struct Mounted {
    server: Child,
    output: BufReader<ChildStdout>,
    place: PathBuf,
    is_mounted: bool,
    /// Major and minor number, as blktrace(8) names a device.
    numbers: String,
    /// When the workload was started, by CLOCK_MONOTONIC.
    started_ns: Cell<Option<u64>>,
    in_charge: Option<InCharge>,
}

impl Mounted {
    /// Makes the disk and mounts it on `place`, which is made if it is not there. It keeps a log of each
    /// request if that is wanted.
    ///
    /// # Errors
    /// There is no such disk here, or no ext4 on it.
    pub fn start(disk: &protocol::MadeDisk, place: &Path, with_log: bool) -> Result<Self> {
        if std::process::id() != GUESTS_AGENT {
            keep_mounts_apart().context("cannot keep mounts apart")?;
        }
        let mut server =
            command(disk, with_log).spawn().context("cannot start the disk's server")?;
        let output = BufReader::new(server.stdout.take().expect("it is piped"));
        let mut mounted = Self {
            server,
            output,
            place: place.into(),
            is_mounted: false,
            numbers: String::new(),
            started_ns: Cell::new(None),
            in_charge: None,
        };
        let line = mounted.line()?;
        let Announced { device } =
            serde_json::from_str(&line).map_err(|_| anyhow!("{}", mounted.last_words()))?;
        let number = stat(&device)?.st_rdev;
        mounted.numbers = format!("{},{}", major(number), minor(number));
        fs::create_dir_all(place)?;
        mount(Some(&device), place, Some("ext4"), MsFlags::empty(), None::<&str>)
            .with_context(|| format!("cannot mount {} on {}", device.display(), place.display()))?;
        mounted.is_mounted = true;
        let name = device.file_name().unwrap_or_default().to_string_lossy();
        let seen = InCharge::now(&name).context("cannot see the disk's elevator")?;
        mounted.in_charge = Some(seen);
        Ok(mounted)
    }

    /// The workload starts now.
    pub fn note_start(&self) {
        self.started_ns.set(Some(now_ns()));
    }

    /// The sample has been measured: what is still to be written takes no time any more and is not counted.
    pub fn hurry(&self) {
        self.signal(HURRY);
    }

    /// Why its elevator was not the same throughout.
    pub fn objection(&self) -> Option<String> {
        self.in_charge.as_ref().and_then(InCharge::objection)
    }

    /// Takes the disk away; what it has done until `hurry`. `tell` gets the log in pieces of whole lines, if there
    /// is one and the workload was started.
    ///
    /// # Errors
    /// The server was lost while the disk was in use.
    pub fn end(mut self, tell: &mut dyn FnMut(String)) -> Result<Counts> {
        self.hurry();
        self.unmount(MntFlags::empty()).context("cannot unmount the disk")?;
        self.ask_to_end()?;
        let line = self.line()?;
        let counts: Counts = serde_json::from_str(&line)
            .map_err(|_| anyhow!("the disk was lost: {}", self.last_words()))?;
        self.forward_log(&counts, tell).context("cannot hear the disk's log")?;
        ensure!(self.ended_within(END_LIMIT), "the disk's server did not end");
        Ok(counts)
    }

    /// Returns when the server has something to say, which it has at its end. It insists to be asked twice while
    /// somebody holds the disk, such as a process with mounts of its own.
    fn ask_to_end(&self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < END_LIMIT {
            self.signal(Signal::SIGTERM);
            let mut said = [PollFd::new(self.output.get_ref().as_fd(), PollFlags::POLLIN)];
            if poll(&mut said, PollTimeout::from(INSIST_MS)).is_ok_and(|ready| ready > 0) {
                return Ok(());
            }
        }
        bail!("the disk's server does not end")
    }

    fn forward_log(&mut self, counts: &Counts, tell: &mut dyn FnMut(String)) -> Result<()> {
        let Some(dropped) = counts.dropped else { return Ok(()) };
        let Some(start_ns) = self.started_ns.get() else {
            // Its server ends when everything has been read.
            return Ok(io::copy(&mut self.output, &mut io::sink()).map(drop)?);
        };
        tell(format!("# device={} dropped={dropped}\n", self.numbers));
        pieces::forward(&mut self.output, start_ns, tell)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line).context("cannot hear the disk's server")?;
        Ok(line)
    }

    /// The last line that the server has to say, which has ended or is ended here.
    fn last_words(&mut self) -> String {
        let _ = self.server.kill();
        let mut text = String::new();
        if let Some(mut errors) = self.server.stderr.take() {
            let _ = errors.read_to_string(&mut text);
        }
        let last = text.trim_end().lines().next_back().unwrap_or("its server was killed");
        last.trim_start_matches("runoff-agent: ").to_owned()
    }

    fn signal(&self, signal: Signal) {
        // A server that has ended already shows in its output.
        let _ = kill(Pid::from_raw(self.server.id().cast_signed()), signal);
    }

    fn unmount(&mut self, flags: MntFlags) -> nix::Result<()> {
        if std::mem::take(&mut self.is_mounted) {
            umount2(&self.place, flags).inspect_err(|_| self.is_mounted = true)?;
            // One that was there before may have something in it.
            let _ = fs::remove_dir(&self.place);
        }
        Ok(())
    }

    fn ended_within(&mut self, limit: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < limit {
            if !matches!(self.server.try_wait(), Ok(None)) {
                return true;
            }
            sleep(LOOK);
        }
        false
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // The number of one that has ended may be another's by now.
        let is_there = matches!(self.server.try_wait(), Ok(None));
        if is_there {
            self.hurry();
        }
        let _ = self.unmount(MntFlags::MNT_DETACH);
        if is_there {
            self.signal(Signal::SIGTERM);
            if !self.ended_within(END_LIMIT) {
                let _ = self.server.kill();
                let _ = self.server.wait();
            }
        }
        // A server that was killed has left its device behind.
        let _ = super::sweep();
    }
}

/// What is mounted from now on is there for this process and those that it starts alone, and goes with them.
fn keep_mounts_apart() -> nix::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let flags = MsFlags::MS_REC | MsFlags::MS_SLAVE;
    mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)
}

fn command(disk: &protocol::MadeDisk, with_log: bool) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg("disk").args(["--elevator", &disk.elevator, "--model", &disk.model]);
    command.args(["--size-mb", &disk.size_mb.to_string()]);
    command.arg("--content").arg(&disk.content);
    if let Some(file) = &disk.file {
        command.arg("--file").arg(file);
    }
    if with_log {
        command.arg("--requests");
    }
    command.args(disk.parameters.iter().map(|(key, value)| format!("{key}={value}")));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // SAFETY: both are plain system calls.
    unsafe {
        command.pre_exec(|| {
            stop::unblock_signals()?;
            prctl::set_pdeathsig(Signal::SIGKILL).map_err(Into::into)
        });
    }
    command
}
