// SPDX-License-Identifier: GPL-2.0-only
//! One command: started in its own session, cgroup and root directory, timed, and certainly ended.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::cgroup::Cgroup;
use crate::scratch::Scratch;
use crate::stop::{self, Stop};

/// A program that has ended may leave children in the middle of their own exit.
const EXIT_GRACE: Duration = Duration::from_millis(200);

/// How much of a program's output is read back.
const OUTPUT_LIMIT: u64 = 64 * 1024;

/// What a command needs around it.
pub struct Surroundings<'a> {
    pub root: Option<&'a Path>,
    pub scratch: &'a Scratch,
    pub environment: &'a BTreeMap<String, String>,
    pub timeout: Duration,
    pub stop: &'a Stop,
}

/// How the command ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    Exit(i32),
    Signal(i32),
    TimedOut,
    Stopped,
    /// It ended well but left this many threads running, which were killed.
    LeftBehind(usize),
}

/// What wait4 and the clock say about the command.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub ending: Ending,
    pub elapsed: Duration,
    pub voluntary_switches: i64,
    pub involuntary_switches: i64,
    pub max_rss_kb: i64,
}

/// Runs `argv` to its end. `look` is called right after the start and once more after
/// `SECOND_LOOK`, while the command runs.
pub fn run(
    argv: &[String],
    around: &Surroundings,
    cgroup: &Cgroup,
    mut look: impl FnMut(),
) -> Result<Outcome> {
    let mut command = prepare(argv, around, cgroup)?;
    let start = Instant::now();
    let child = command.spawn().map_err(|error| explain(&argv[0], &error))?;
    look();
    let ending = wait(&child, around, start, look)?;
    if ending.is_some() {
        cgroup.kill();
    }
    let (status, usage) = reap(&child)?;
    let elapsed = start.elapsed();
    let ending = match ending {
        Some(ending) => ending,
        None => natural(status, cgroup),
    };
    Ok(Outcome {
        ending,
        elapsed,
        voluntary_switches: usage.ru_nvcsw,
        involuntary_switches: usage.ru_nivcsw,
        max_rss_kb: usage.ru_maxrss,
    })
}

/// Starts `argv` and leaves it to the caller.
pub fn start(argv: &[String], around: &Surroundings, cgroup: &Cgroup) -> Result<Child> {
    prepare(argv, around, cgroup)?.spawn().map_err(|error| explain(&argv[0], &error))
}

/// The second look comes when a program has had time to start its threads.
const SECOND_LOOK: Duration = Duration::from_millis(100);

fn prepare(argv: &[String], around: &Surroundings, cgroup: &Cgroup) -> Result<Command> {
    let Some((program, arguments)) = argv.split_first() else { bail!("the command is empty") };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", around.scratch.search_path())
        .env("HOME", around.scratch.inside())
        .env("TMPDIR", around.scratch.inside())
        .env("LC_ALL", "C.UTF-8")
        .envs(around.environment)
        .stdin(Stdio::null())
        .stdout(File::create(around.scratch.stdout())?)
        .stderr(File::create(around.scratch.stderr())?);
    let mut procs = cgroup.procs().context("cannot open the cgroup's cgroup.procs")?;
    let root = around.root.map(c_path).transpose()?;
    let directory = c_path(around.scratch.inside())?;
    // Only async-signal-safe calls: between fork and exec other threads' locks may be held.
    let enter = move || -> io::Result<()> {
        stop::unblock_signals()?;
        procs.write_all(b"0")?;
        // SAFETY: the strings are NUL-terminated and outlive the calls.
        unsafe {
            libc::setsid();
            if let Some(root) = &root
                && libc::chroot(root.as_ptr()) != 0
            {
                return Err(io::Error::last_os_error());
            }
            if libc::chdir(directory.as_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: `enter` keeps to async-signal-safe calls.
    unsafe { command.pre_exec(enter) };
    Ok(command)
}

fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).context("a path with a NUL byte")
}

fn explain(program: &str, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow::anyhow!("the program {program} was not found"),
        _ => anyhow::anyhow!("cannot start {program}: {error}"),
    }
}

/// Sleeps until the child has ended (`None`), ran out of time, or the agent is asked to stop.
fn wait(
    child: &Child,
    around: &Surroundings,
    start: Instant,
    mut look: impl FnMut(),
) -> Result<Option<Ending>> {
    let pidfd = pidfd_open(child.id())?;
    let mut looked = false;
    loop {
        let elapsed = start.elapsed();
        if elapsed >= around.timeout {
            return Ok(Some(Ending::TimedOut));
        }
        let target = if looked { around.timeout } else { SECOND_LOOK.min(around.timeout) };
        let mut fds = [
            PollFd::new(pidfd.as_fd(), PollFlags::POLLIN),
            PollFd::new(around.stop.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut fds, poll_timeout(target.saturating_sub(elapsed))) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error).context("cannot wait for the command"),
        }
        if fds[0].any().unwrap_or(false) {
            return Ok(None);
        }
        if fds[1].any().unwrap_or(false) {
            return Ok(Some(Ending::Stopped));
        }
        if !looked && start.elapsed() >= SECOND_LOOK {
            looked = true;
            look();
        }
    }
}

fn poll_timeout(left: Duration) -> PollTimeout {
    // One more millisecond: poll rounds down, and a wait of zero would spin.
    PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
}

fn pidfd_open(pid: u32) -> Result<OwnedFd> {
    // SAFETY: plain system call; the descriptor it returns is ours alone.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error()).context("pidfd_open");
        }
        Ok(OwnedFd::from_raw_fd(i32::try_from(fd)?))
    }
}

fn reap(child: &Child) -> Result<(i32, libc::rusage)> {
    let mut status = 0;
    loop {
        // SAFETY: both pointers are valid for the call; rusage is plain data.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        let pid =
            unsafe { libc::wait4(child.id().cast_signed(), &raw mut status, 0, &raw mut usage) };
        if pid > 0 {
            return Ok((status, usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error).context("wait4");
        }
    }
}

fn natural(status: i32, cgroup: &Cgroup) -> Ending {
    if libc::WIFSIGNALED(status) {
        cgroup.kill();
        return Ending::Signal(libc::WTERMSIG(status));
    }
    if !cgroup.drained_within(EXIT_GRACE) {
        let left = cgroup.threads().len();
        cgroup.kill();
        return Ending::LeftBehind(left);
    }
    Ending::Exit(libc::WEXITSTATUS(status))
}

/// The last part of an output file as text.
pub fn tail(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = File::open(path)?;
        let length = fs::metadata(path)?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT_LIMIT)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}
