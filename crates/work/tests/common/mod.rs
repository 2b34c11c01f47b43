// SPDX-License-Identifier: GPL-2.0-only
//! Runs the programs of this crate as a user would, with little room or with a time limit.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::libc;
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::geteuid;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_workloads");

pub fn workloads(arguments: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments.split_whitespace());
    command
}

/// The output of a program, how it ended, and after how long.
pub struct Ended {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
    pub after: Duration,
}

impl Ended {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Asserts this exit status, one sentence and no panic.
    #[track_caller]
    pub fn assert_sentence(&self, code: i32, words: &str) {
        assert_eq!(self.code(), Some(code), "{:?}: {}", self.status.signal(), self.err);
        assert!(self.err.contains(words), "{words:?} is not in {:?}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// Runs `command` to its end; one that goes on for longer than `limit` is killed, and the test fails.
#[track_caller]
pub fn run(mut command: Command, limit: Duration) -> Ended {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("the program starts");
    while child.try_wait().expect("it is our child").is_none() {
        if start.elapsed() > limit {
            end_group(&mut child);
            panic!("{command:?} still runs after {limit:?}");
        }
        sleep(Duration::from_millis(2));
    }
    let after = start.elapsed();
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().map(|mut pipe| pipe.read_to_string(&mut out));
    child.stderr.take().map(|mut pipe| pipe.read_to_string(&mut err));
    Ended { status: child.wait().expect("it has ended"), out, err, after }
}

fn end_group(child: &mut Child) {
    let group = nix::unistd::Pid::from_raw(child.id().cast_signed());
    let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
    let _ = child.wait();
}

/// A user who may have only `threads` threads, the program's first one included.
pub struct Cramped {
    user: Option<u32>,
    threads: u64,
    program: PathBuf,
    _copy: TempDir,
}

impl Cramped {
    /// As root, a user who runs nothing else; otherwise this user, who may start nothing more.
    pub fn new(threads: u64) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let nobody_else = || {
            let number = std::process::id() * 13 + NEXT.fetch_add(1, Ordering::Relaxed);
            20_000 + number % 40_000
        };
        let user = geteuid().is_root().then(nobody_else);
        // The build's own directory may be closed to that user.
        let copy = TempDir::new().expect("a directory");
        fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o777)).expect("its mode");
        let program = copy.path().join("workloads");
        // Copied by another process: one that is forked here meanwhile would keep our file open for
        // writing, and the kernel does not run such a file.
        let copied = Command::new("cp").arg(PROGRAM).arg(&program).status();
        assert!(copied.is_ok_and(|status| status.success()), "cannot copy {PROGRAM}");
        Self { user, threads: if user.is_some() { threads } else { 0 }, program, _copy: copy }
    }

    pub fn workloads(&self, arguments: &str) -> Command {
        let (user, threads) = (self.user, self.threads);
        let mut command = Command::new(&self.program);
        command.args(arguments.split_whitespace()).current_dir(self.directory());
        // SAFETY: plain system calls.
        unsafe {
            command.pre_exec(move || {
                setrlimit(Resource::RLIMIT_NPROC, threads, threads)?;
                match user {
                    Some(user) if libc::setuid(user) != 0 => Err(std::io::Error::last_os_error()),
                    _ => Ok(()),
                }
            });
        }
        command
    }

    pub fn directory(&self) -> PathBuf {
        self.program.parent().expect("it is in a directory").to_owned()
    }

    /// Processes and threads that this user has now.
    pub fn left(&self) -> usize {
        let Some(user) = self.user else { return 0 };
        let owner = |path: PathBuf| {
            fs::metadata(path).ok().map(|it| std::os::unix::fs::MetadataExt::uid(&it))
        };
        fs::read_dir("/proc")
            .expect("/proc")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| owner(path.clone()) == Some(user))
            .count()
    }

    /// The number of the first one after `others` that cannot start; `None` if it may be one of
    /// those.
    pub fn first_refused(&self, others: u64) -> Option<u64> {
        self.user.is_some().then(|| self.threads - others + 1)
    }
}

/// A control group that may hold only a number of threads.
pub struct FullGroup(PathBuf);

impl FullGroup {
    /// `None` without root or the controller.
    pub fn new(threads: u64) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("work-test-{}-{number}", std::process::id());
        ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].iter().find_map(|root| {
            let group = Self(PathBuf::from(root).join(&name));
            fs::create_dir(&group.0).ok()?;
            fs::write(group.0.join("pids.max"), threads.to_string()).ok()?;
            Some(group)
        })
    }

    pub fn workloads(&self, arguments: &str) -> Command {
        let mut command = workloads(arguments);
        let procs = self.0.join("cgroup.procs");
        // SAFETY: the test's other threads hold no lock that opening and writing a file needs.
        unsafe { command.pre_exec(move || fs::write(&procs, "0")) };
        command
    }

    pub fn is_empty(&self) -> bool {
        fs::read_to_string(self.0.join("cgroup.procs")).is_ok_and(|found| found.is_empty())
    }
}

impl Drop for FullGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
