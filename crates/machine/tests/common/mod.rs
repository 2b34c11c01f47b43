// SPDX-License-Identifier: GPL-2.0-only
//! Runs commands on this machine's own kernel, each test in a process of its own, like an agent.
#![allow(dead_code, reason = "not every file of tests needs all of it")]

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use machine::cgroup::{Purpose, hierarchy};
use machine::command::{self, Outcome, Surroundings};
use machine::containment::Containment;
use machine::mounts;
use machine::root::Root;
use machine::sched::Scheduling;
use machine::scratch::{Scratch, Speaker};
use machine::stop::Stop;
use machine::view::View;
use nix::sys::signal::{SigSet, Signal};

/// A limit for what must come soon; if it failed it would take minutes.
pub const SOON: Duration = Duration::from_secs(25);

const ALONE: &str = "RUNOFF_TEST_ALONE";

/// Runs `test`, which is called `name`, in a new process with its own mounts, children and signals.
/// Needs root.
pub fn alone(name: &str, test: impl FnOnce()) {
    if !rustix::process::geteuid().is_root() {
        eprintln!("{name} needs root and was not run");
        return;
    }
    if std::env::var_os(ALONE).is_some() {
        mounts::keep_apart().unwrap();
        return test();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(ALONE, "yes");
    // The harness has a thread of its own, which does not block these signals.
    let heard = || Ok(SigSet::from_iter([Signal::SIGTERM, Signal::SIGINT]).thread_block()?);
    // SAFETY: a plain system call.
    unsafe { command.pre_exec(heard) };
    let output = command.output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

pub fn contained() -> Containment {
    Containment::create(&Root::machine(), Purpose::Workload).unwrap()
}

/// The place of the cgroup v2 hierarchy, for scripts.
pub fn cgroups() -> String {
    hierarchy(&Root::machine()).unwrap().display().to_string()
}

/// A directory with a file that must stay.
pub struct Precious(pub tempfile::TempDir);

impl Precious {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("important"), "kept").unwrap();
        Self(directory)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn is_there(&self) -> bool {
        std::fs::read_to_string(self.path().join("important")).is_ok_and(|text| text == "kept")
    }
}

/// A place for scratch directories, and one of them.
pub struct Bench {
    pub place: tempfile::TempDir,
    pub scratch: Scratch,
    pub view: View,
    stop: Stop,
    environment: BTreeMap<String, String>,
}

impl Bench {
    pub fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(None, place.path(), "work").unwrap();
        // After the directories are mounted, because commands must see them.
        let view = View::new().unwrap();
        Self { place, scratch, view, stop: Stop::new().unwrap(), environment: BTreeMap::new() }
    }

    pub fn around(&self, timeout_s: f64) -> Surroundings<'_> {
        let timeout = Duration::from_secs_f64(timeout_s);
        let Self { scratch, view, stop, environment, .. } = self;
        Surroundings {
            root: None,
            view,
            scratch,
            speaker: Speaker::Command,
            environment,
            timeout,
            scheduling: Scheduling::default(),
            stop,
        }
    }

    /// Runs a script of sh in `containment`; returns how it ended and how long that took.
    pub fn run(
        &self,
        script: &str,
        timeout_s: f64,
        containment: &Containment,
    ) -> (Outcome, Duration) {
        let argv = ["sh", "-c", script].map(String::from);
        let start = Instant::now();
        let outcome = command::run(&argv, &self.around(timeout_s), containment, |_| ()).unwrap();
        (outcome, start.elapsed())
    }

    /// Removes the scratch directories; returns what is left in the place.
    pub fn ended(self) -> (Result<(), String>, Vec<PathBuf>) {
        let ended = self.scratch.end().map_err(|error| format!("{error:#}"));
        let left = std::fs::read_dir(self.place.path()).unwrap().map(|entry| entry.unwrap().path());
        (ended, left.collect())
    }
}

/// Whether a process with this command line still runs after the time that dying takes.
pub fn runs(words: &str) -> bool {
    let is_there = || {
        let all = procfs::process::all_processes().unwrap();
        let found = all.filter_map(|process| process.ok()?.cmdline().ok());
        found.map(|line| line.join(" ")).any(|line| line == words)
    };
    let start = Instant::now();
    while is_there() {
        if start.elapsed() > SOON {
            return true;
        }
        std::thread::yield_now();
    }
    false
}
