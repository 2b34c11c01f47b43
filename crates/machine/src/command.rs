// SPDX-License-Identifier: GPL-2.0-only
//! One command: started in a containment of its own, timed, and ended with all that it has started.
//! Processes that left the containment or could not be ended are reported.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::containment::Containment;
use crate::process::{Ended, KILL_LIMIT, Process, Waited};
use crate::sched::Scheduling;
use crate::scratch::{Scratch, Speaker};
use crate::stop::Stop;
use crate::strays::Stray;
use crate::view::View;

/// Time for the children of a program that has ended to end too.
const EXIT_GRACE: Duration = Duration::from_millis(200);

/// Time of the second look, when a program has had time to start its threads.
const SECOND_LOOK: Duration = Duration::from_millis(100);

/// CPU time by which the kernel's two counts of a command may differ.
const OUTSIDE_LIMIT: Duration = Duration::from_millis(100);

/// What a command needs around it.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub root: Option<&'a Path>,
    pub view: &'a View,
    pub scratch: &'a Scratch,
    pub speaker: Speaker,
    pub environment: &'a BTreeMap<String, String>,
    pub timeout: Duration,
    pub scheduling: Scheduling,
    pub stop: &'a Stop,
}

impl Surroundings<'_> {
    pub fn stdout(&self) -> PathBuf {
        self.scratch.stdout(self.speaker)
    }

    pub fn stderr(&self) -> PathBuf {
        self.scratch.stderr(self.speaker)
    }
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    Exit(i32),
    Signal(i32),
    TimedOut,
    Stopped,
    /// It ended with status 0 but left this many threads running, which were killed.
    LeftBehind(usize),
    /// The command, or a process that it had started, ran outside its control group; processes
    /// found there were killed.
    Escaped(Outside),
    /// It could not be ended; what it does.
    Unkillable(String),
}

/// What a command did outside its control group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outside {
    /// Whether the command itself was outside at its end.
    pub leader: bool,
    pub strays: BTreeSet<Stray>,
    /// CPU time that the control group did not count.
    pub cpu: Option<Duration>,
}

impl Outside {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The rest of a sentence that begins with the name of the command.
impl fmt::Display for Outside {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strays: Vec<_> = self.strays.iter().map(Stray::to_string).collect();
        let mut facts = Vec::new();
        if self.leader {
            facts.push("left its control group".to_owned());
        }
        if !strays.is_empty() {
            let strays = strays.join(", ");
            facts.push(format!(
                "had processes outside its control group, which were killed: {strays}"
            ));
        }
        if let Some(cpu) = self.cpu {
            let seconds = cpu.as_secs_f64();
            facts.push(format!("used {seconds:.1} s of CPU time outside its control group"));
        }
        out.write_str(&facts.join("; "))
    }
}

/// The end of a command, and what it used.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub ending: Ending,
    pub elapsed: Duration,
    pub voluntary_switches: i64,
    pub involuntary_switches: i64,
    pub max_rss_kb: i64,
}

/// Runs `argv` to its end. `look` is called with its process right after the start, once more after
/// `SECOND_LOOK` while the command runs, and when it has ended but is not yet waited for.
///
/// # Errors
/// The command cannot be started, or a process that has left cannot be ended.
pub fn run(
    argv: &[String],
    around: &Surroundings,
    containment: &Containment,
    mut look: impl FnMut(u32),
) -> Result<Outcome> {
    let mut command = prepare(argv, around)?;
    let start = Instant::now();
    let mut process = containment.spawn(&mut command).map_err(|error| explain(&argv[0], &error))?;
    look(process.id());
    let waited = wait(&process, around, start, &mut look)?;
    if waited != Waited::Ended {
        containment.cgroup().kill();
        process.signal(rustix::process::Signal::KILL);
        process.wait(KILL_LIMIT, None)?;
    }
    let elapsed = start.elapsed();
    look(process.id());
    // Check before the command is reaped: afterwards its number may be another process's.
    let leader = !containment.holds(&process);
    let Some(ended) = process.reap(Duration::ZERO)? else {
        let ending = Ending::Unkillable(process.what_it_does());
        process.give_up();
        return Ok(Outcome { ending, ..outcome(elapsed, None) });
    };
    let outside = Outside { leader, ..outside(&ended, containment)? };
    let ending = match waited {
        Waited::TimedOut => Ending::TimedOut,
        Waited::Stopped => Ending::Stopped,
        Waited::Ended if !outside.is_nothing() => {
            containment.cgroup().kill();
            Ending::Escaped(outside)
        }
        Waited::Ended => natural(&ended, containment),
    };
    Ok(Outcome { ending, ..outcome(elapsed, Some(&ended)) })
}

/// Starts `argv` and leaves it to the caller.
///
/// # Errors
/// The command cannot be started.
pub fn start(argv: &[String], around: &Surroundings, containment: &Containment) -> Result<Process> {
    let started = containment.spawn(&mut prepare(argv, around)?);
    started.map_err(|error| explain(&argv[0], &error))
}

fn outcome(elapsed: Duration, ended: Option<&Ended>) -> Outcome {
    Outcome {
        ending: Ending::Stopped,
        elapsed,
        voluntary_switches: ended.map_or(0, |ended| ended.voluntary_switches),
        involuntary_switches: ended.map_or(0, |ended| ended.involuntary_switches),
        max_rss_kb: ended.map_or(0, |ended| ended.max_rss_kb),
    }
}

fn prepare(argv: &[String], around: &Surroundings) -> Result<Command> {
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
        .stdout(output(&around.stdout())?)
        .stderr(output(&around.stderr())?);
    around.view.enter(&mut command)?;
    let root = around.root.map(c_path).transpose()?;
    let directory = c_path(around.scratch.inside())?;
    let scheduling = around.scheduling;
    // Only async-signal-safe calls: between fork and exec other threads' locks may be held.
    let enter = move || -> io::Result<()> {
        if let Some(root) = &root {
            rustix::process::chroot(root.as_c_str())?;
        }
        rustix::process::chdir(directory.as_c_str())?;
        scheduling.apply()
    };
    // SAFETY: `enter` keeps to async-signal-safe calls.
    unsafe { command.pre_exec(enter) };
    Ok(command)
}

/// Opens a file for output and empties it. A link that an earlier command put there is not
/// followed.
fn output(path: &Path) -> Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o644).custom_flags(libc::O_NOFOLLOW);
    options.open(path).with_context(|| format!("cannot keep output in {}", path.display()))
}

fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).context("a path with a NUL byte")
}

fn explain(program: &str, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        // The kernel says the same of the program that a script's first line names.
        io::ErrorKind::NotFound if program.contains('/') => {
            anyhow::anyhow!("the program {program}, or what is to interpret it, was not found")
        }
        io::ErrorKind::NotFound => anyhow::anyhow!("the program {program} was not found"),
        _ => anyhow::anyhow!("cannot start {program}: {error}"),
    }
}

/// Sleeps until the command has ended, ran out of time, or the agent is asked to stop.
fn wait(
    process: &Process,
    around: &Surroundings,
    start: Instant,
    look: &mut impl FnMut(u32),
) -> Result<Waited> {
    let limit = SECOND_LOOK.min(around.timeout);
    let left = |limit: Duration| limit.saturating_sub(start.elapsed());
    let wait =
        |limit| process.wait(limit, Some(around.stop)).context("cannot wait for the command");
    let first = wait(left(limit))?;
    if first != Waited::TimedOut || limit == around.timeout {
        return Ok(first);
    }
    look(process.id());
    wait(left(around.timeout))
}

fn natural(ended: &Ended, containment: &Containment) -> Ending {
    let cgroup = containment.cgroup();
    if let Some(signal) = ended.status.signal() {
        cgroup.kill();
        return Ending::Signal(signal);
    }
    if !cgroup.drained_within(EXIT_GRACE) {
        let left = cgroup.threads().len();
        cgroup.kill();
        return Ending::LeftBehind(left);
    }
    Ending::Exit(ended.status.code().unwrap_or(-1))
}

/// Ends the processes that a command has left outside its containment. Returns what it did there.
///
/// # Errors
/// A process cannot be ended.
pub fn outside(ended: &Ended, containment: &Containment) -> Result<Outside> {
    let strays = containment.end_strays()?;
    Ok(Outside { leader: false, strays, cpu: outside_s(ended, containment)? })
}

/// CPU time that the command and the children that it waited for have used elsewhere; None if that
/// is next to nothing.
fn outside_s(ended: &Ended, containment: &Containment) -> Result<Option<Duration>> {
    let inside = Duration::from_secs_f64(containment.cgroup().cpu_time()?.total_s());
    let outside = ended.cpu.saturating_sub(inside);
    Ok((outside > OUTSIDE_LIMIT + ended.cpu / 50).then_some(outside))
}
