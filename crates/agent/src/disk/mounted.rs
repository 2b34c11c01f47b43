// SPDX-License-Identifier: GPL-2.0-only
//! A disk of a sample: served by a process of its own, mounted while the sample runs, gone afterwards.

use std::cell::Cell;
use std::fs;
use std::io::{self, PipeReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use block_queue::queue_watch::QueueWatch;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::signal::Signal;
use nix::sys::stat::{major, minor, stat};
use serde::Deserialize;

use super::place::{self, Free};
use super::server_output::ServerOutput;
use machine::cgroup::Purpose;
use machine::clock::now_ns;
use machine::containment::Containment;
use machine::mounts;
use machine::process::{KILL_LIMIT, Process};
use machine::root::Root;
use machine::stop::Stop;
use ublk::{Counts, HURRY, ServerProcess, pieces};

/// Time limit for a server to make its disk: it copies blocks, and the kernel loads its programs.
const START_LIMIT: Duration = Duration::from_secs(120);
/// Time limit for a server to end when nobody uses its disk any more.
const END_LIMIT: Duration = Duration::from_secs(20);
/// Time limit for a server to end when the agent itself is to stop. A killed server leaves its
/// device to the sweep.
const STOP_LIMIT: Duration = Duration::from_millis(500);
/// How much of a server's error output is read.
const WORDS_BYTES: u64 = 64 * 1024;

#[derive(Deserialize)]
struct Announcement {
    device: PathBuf,
}

pub struct Mounted<'a> {
    child: Process,
    /// Holds the server, which is ended before this is.
    _containment: Containment,
    server: ServerProcess,
    errors: PipeReader,
    /// The output of the server; None when it is not read any more.
    output: Option<ServerOutput<'a>>,
    stop: &'a Stop,
    /// The directory that the disk is mounted on, once it exists.
    place: Option<Free>,
    is_mounted: bool,
    /// The file with its data, once the server has made it.
    data: Option<PathBuf>,
    /// Major and minor number, as blktrace(8) names a device.
    numbers: String,
    /// When the workload was started, by CLOCK_MONOTONIC.
    started_ns: Cell<Option<u64>>,
    queue: Option<QueueWatch>,
}

impl<'a> Mounted<'a> {
    /// Makes the disk and mounts it on `place`, which is below `root` if there is one, and is made
    /// if it is not there. `with_log` keeps a log of each request.
    ///
    /// # Errors
    /// There is no such disk here, it has no ext4 file system, `place` is not empty, or a stop was
    /// requested meanwhile.
    pub fn start(
        disk: &protocol::MadeDisk,
        root: Option<&Path>,
        place: &Path,
        with_log: bool,
        stop: &'a Stop,
    ) -> Result<Self> {
        mounts::keep_apart()?;
        place::find_free(root, place)?;
        let data = disk.file.as_deref().map(resolve_data_file).transpose()?;
        let mut mounted = Self::of(command(disk, data.as_deref(), with_log), stop)?;
        let device = mounted.read_announcement()?;
        mounted.data = data;
        let number = stat(&device)?.st_rdev;
        mounted.numbers = format!("{},{}", major(number), minor(number));
        let place = &mounted.place.insert(place::make_free(root, place)?).path;
        mount(Some(&device), place, Some("ext4"), MsFlags::empty(), None::<&str>)
            .with_context(|| format!("cannot mount {} on {}", device.display(), place.display()))?;
        mounted.is_mounted = true;
        let name = device.file_name().unwrap_or_default().to_string_lossy();
        let queue = QueueWatch::start(&name).context("cannot see the disk's elevator")?;
        mounted.queue = Some(queue);
        Ok(mounted)
    }

    /// Starts the server; dropping the result removes everything again.
    fn of(mut command: Command, stop: &'a Stop) -> Result<Self> {
        let ((output, stdout), (errors, warnings)) = (io::pipe()?, io::pipe()?);
        command.stdin(Stdio::null()).stdout(stdout).stderr(warnings);
        let containment = Containment::create(&Root::machine(), Purpose::Disk)?;
        let child = containment.spawn(&mut command).context("cannot start the disk's server")?;
        // Now only the server has the pipes open, so they end when it ends.
        drop(command);
        let server = ServerProcess::of_child(&child)?;
        let output = Some(ServerOutput::new(output, stop));
        let (place, data, numbers, started_ns) = Default::default();
        let (is_mounted, queue) = (false, None);
        Ok(Self {
            child,
            _containment: containment,
            server,
            errors,
            output,
            stop,
            place,
            is_mounted,
            data,
            numbers,
            started_ns,
            queue,
        })
    }

    /// Waits for the disk and returns its device.
    fn read_announcement(&mut self) -> Result<PathBuf> {
        let output = self.output.as_mut().expect("it is listened to");
        let is_there = output.await_output(START_LIMIT).context("there is no disk yet")?;
        ensure!(is_there, "the disk server did not create a device");
        let line = output.read_line().context("cannot hear the disk's server")?;
        let announced: Option<Announcement> = serde_json::from_str(&line).ok();
        announced.map(|disk| disk.device).ok_or_else(|| anyhow!("{}", self.last_words()))
    }

    /// Notes that the workload starts now.
    pub fn note_start(&self) {
        self.started_ns.set(Some(now_ns()));
    }

    /// Tells the server that the sample was measured: the rest is written without delays and not
    /// counted.
    pub fn hurry(&self) {
        self.server.signal(HURRY);
    }

    /// Why the disk's elevator was not the same throughout.
    pub fn objection(&self) -> Option<String> {
        self.queue.as_ref().and_then(QueueWatch::objection)
    }

    /// Takes the disk away; returns what it did until `hurry`. `tell` gets the log in pieces of
    /// whole lines, if there is one and the workload was started.
    ///
    /// # Errors
    /// The server was lost while the disk was in use, the disk cannot be unmounted, or a stop was
    /// requested. The disk is taken away in each case.
    pub fn end(mut self, tell: &mut dyn FnMut(String)) -> Result<Counts> {
        self.hurry();
        self.unmount(MntFlags::empty()).context("cannot unmount the disk")?;
        let output = self.output.as_mut().expect("it is listened to");
        // A server that ends prints something first.
        let is_ending = |span| output.await_output(span);
        ensure!(self.server.ask_to_end(END_LIMIT, is_ending)?, "the disk's server does not end");
        let line = output.read_line().context("cannot hear the disk's server")?;
        let counts: Counts = serde_json::from_str(&line)
            .map_err(|_| anyhow!("the disk was lost: {}", self.last_words()))?;
        self.forward_log(&counts, tell).context("cannot hear the disk's log")?;
        ensure!(self.server.ended_within(END_LIMIT), "the disk's server did not end");
        Ok(counts)
    }

    fn forward_log(&mut self, counts: &Counts, tell: &mut dyn FnMut(String)) -> Result<()> {
        let Some(dropped) = counts.dropped else { return Ok(()) };
        let log = self.output.as_mut().expect("it is listened to").rest();
        let Some(start_ns) = self.started_ns.get() else {
            // The server ends when everything has been read.
            return Ok(io::copy(log, &mut io::sink()).map(drop)?);
        };
        tell(format!("# device={} dropped={dropped}\n", self.numbers));
        pieces::forward(log, start_ns, tell)
    }

    /// Ends the server if it still runs, and returns the last line that it printed.
    fn last_words(&mut self) -> String {
        self.server.signal(Signal::SIGKILL);
        let mut words = Vec::new();
        if self.server.ended_within(KILL_LIMIT) {
            let _ = self.errors.by_ref().take(WORDS_BYTES).read_to_end(&mut words);
        }
        let text = String::from_utf8_lossy(&words);
        let last = text.trim_end().lines().next_back().unwrap_or("its server was killed");
        last.trim_start_matches("runoff-agent: ").to_owned()
    }

    fn unmount(&mut self, flags: MntFlags) -> nix::Result<()> {
        if let Some(place) = &self.place {
            if self.is_mounted {
                umount2(&place.path, flags)?;
                self.is_mounted = false;
            }
            if place.is_new {
                let _ = fs::remove_dir(&place.path);
            }
        }
        Ok(())
    }

    /// Ends the server within the limits, even if its disk is in use.
    fn end_server(&mut self) {
        // Close the pipe, or the server would wait for a reader of its log.
        self.output = None;
        let has_ended = |span| Ok::<_, io::Error>(self.server.ended_within(span));
        let limit = if self.stop.requested() { STOP_LIMIT } else { END_LIMIT };
        if !self.server.ask_to_end(limit, has_ended).unwrap_or(false) {
            self.child.kill();
        }
        let _ = self.child.reap(Duration::ZERO);
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        self.hurry();
        let _ = self.unmount(MntFlags::MNT_DETACH);
        self.end_server();
        // A server that was killed has left its device behind.
        let _ = ublk::sweep();
        if let Some(data) = &self.data
            && let Err(error) = fs::remove_file(data)
        {
            eprintln!("runoff-agent: cannot remove {}: {error}", data.display());
        }
    }
}

/// Resolves the directory that the file of a disk is to be in.
fn resolve_data_file(file: &Path) -> Result<PathBuf> {
    let (directory, name) =
        file.parent().zip(file.file_name()).context("it is not the name of a file")?;
    Ok(place::resolve(None, directory)?.join(name))
}

fn command(disk: &protocol::MadeDisk, data: Option<&Path>, with_log: bool) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg("disk").args(["--elevator", &disk.elevator, "--model", &disk.model]);
    command.args(["--size-mb", &disk.size_mb.to_string()]);
    command.arg("--content").arg(&disk.content);
    if let Some(data) = data {
        command.arg("--file").arg(data);
    }
    if with_log {
        command.arg("--requests");
    }
    command.args(disk.parameters.iter().map(|(key, value)| format!("{key}={value}")));
    command
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use nix::sys::signal::raise;

    use super::*;

    /// A disk whose server is a shell script, which prints when it is ready. None without root.
    fn served_by<'a>(script: &str, stop: &'a Stop) -> Option<Mounted<'a>> {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("this needs root and was not tried");
            return None;
        }
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Some(Mounted::of(command, stop).unwrap())
    }

    fn ends_at_once(script: &str) {
        let stop = Stop::new().unwrap();
        let Some(mut mounted) = served_by(script, &stop) else { return };
        mounted.output.as_mut().unwrap().read_line().unwrap();
        let start = Instant::now();
        mounted.end_server();
        assert!(mounted.server.ended_within(Duration::ZERO));
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_server_with_a_long_log_ends_at_once_when_nobody_reads_it() {
        let log = "trap 'yes | head -c 1000000; exit' TERM; echo; while :; do sleep 0.02; done";
        ends_at_once(log);
    }

    #[test]
    fn a_server_that_needs_two_signals_gets_two() {
        let twice = "trap 'trap - TERM' TERM; echo; while :; do sleep 0.02; done";
        ends_at_once(twice);
    }

    #[test]
    fn a_stop_is_seen_before_there_is_a_disk() {
        let stop = Stop::new().unwrap();
        let Some(mut mounted) = served_by("exec sleep 60", &stop) else { return };
        raise(Signal::SIGTERM).unwrap();
        let start = Instant::now();
        let refusal = format!("{:#}", mounted.read_announcement().unwrap_err());
        assert!(refusal.contains("stopped on request"), "{refusal}");
        drop(mounted);
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_stop_is_seen_while_a_disk_ends_and_its_server_does_not() {
        let stop = Stop::new().unwrap();
        let Some(mut mounted) =
            served_by("trap '' TERM; echo; while :; do sleep 0.02; done", &stop)
        else {
            return;
        };
        mounted.output.as_mut().unwrap().read_line().unwrap();
        raise(Signal::SIGTERM).unwrap();
        let start = Instant::now();
        let error = format!("{:#}", mounted.end(&mut |_| ()).err().unwrap());
        assert!(error.contains("stopped on request"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }

    #[test]
    fn a_server_that_fails_says_why_in_its_last_line() {
        let script = "echo warning >&2; echo 'runoff-agent: no such disk' >&2; exit 64";
        let stop = Stop::new().unwrap();
        let Some(mut mounted) = served_by(script, &stop) else { return };
        assert_eq!(mounted.read_announcement().unwrap_err().to_string(), "no such disk");
    }
}
