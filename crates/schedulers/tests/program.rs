// SPDX-License-Identifier: GPL-2.0-only
//! Programs that attach a scheduler, or seem to: the kernel's side is a fake tree, processes and
//! cgroups are real. The tests need root and run one at a time, because each ends all stray
//! processes of this one.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use machine::root::Root;
use machine::stop::Stop;
use nix::sys::signal::{Signal, raise};
use schedulers::AttachError;
use schedulers::owner::World;
use schedulers::program::RunningProgram;
use tempfile::TempDir;

/// The link of every scheduler in the tree.
const LINK: u32 = 7;
const SCHED_EXT: &str = "sys/kernel/sched_ext";
const PATIENCE: Duration = Duration::from_millis(300);

struct Bench {
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Bench {
    fn new() -> Option<Self> {
        static TURN: Mutex<()> = Mutex::new(());
        if !nix::unistd::geteuid().is_root() {
            eprintln!("this needs root and was not run");
            return None;
        }
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join(SCHED_EXT)).unwrap();
        for (name, text) in
            [("state", "disabled"), ("enable_seq", "3"), ("nr_rejected", "0"), ("switch_all", "0")]
        {
            fs::write(folder.path().join(SCHED_EXT).join(name), text).unwrap();
        }
        Some(Self { folder, _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner) })
    }

    /// Runs a script that may call `attach`, which puts the calling process's scheduler in charge,
    /// `appear`, which puts another process's in charge, and `note NAME`, which writes down the
    /// number of the calling process.
    fn start(&self, script: &str) -> Result<RunningProgram, AttachError> {
        self.start_unless(&Stop::new().unwrap(), script)
    }

    fn start_unless(&self, stop: &Stop, script: &str) -> Result<RunningProgram, AttachError> {
        let words = "
            put() { mkdir -p $at/root; echo $1 > $at/root/ops; echo 4 > $at/enable_seq
                    echo enabled > $at/state; }
            note() { sh -c 'echo $PPID' > $1.pid; }
            attach() { note holder; mkdir -p proc/$(cat holder.pid)/fdinfo
                       echo 'link_id: 7' > proc/$(cat holder.pid)/fdinfo/5; put mine; }
            appear() { mkdir -p proc/1/fdinfo; echo 'link_id: 7' > proc/1/fdinfo/5; put foreign; }";
        let script =
            format!("cd {}; at={SCHED_EXT}; {words}\n{script}", self.folder.path().display());
        let world = World {
            root: Root::below(self.folder.path()),
            link: |_| Some(LINK),
            patience: PATIENCE,
        };
        let argv = ["sh", "-c", &script].map(str::to_owned);
        let (program, state) = RunningProgram::start(&argv, 3, &world, stop)?;
        assert_eq!((state.ops.as_str(), state.enable_seq), ("mine", 4));
        Ok(program)
    }

    /// Whether the process that called `note` with `name` is still there.
    fn lives(&self, name: &str) -> bool {
        let pid = fs::read_to_string(self.folder.path().join(format!("{name}.pid"))).unwrap();
        let stat = fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    }
}

fn reason(error: Option<AttachError>) -> String {
    error.map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn a_program_that_attaches_is_ended_with_its_scheduler() {
    let Some(bench) = Bench::new() else { return };
    let program = bench.start("attach; exec sleep 1000").unwrap();
    assert!(bench.lives("holder"));
    program.stop().unwrap();
    assert!(!bench.lives("holder"));
}

#[test]
fn a_wrapper_may_start_the_scheduler_in_the_background_and_exit() {
    let Some(bench) = Bench::new() else { return };
    let program = bench.start("(sleep 0.3; attach; exec sleep 1000) & exit 0").unwrap();
    assert!(bench.lives("holder"));
    let start = Instant::now();
    program.stop().unwrap();
    assert!(!bench.lives("holder"));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_daemon_that_is_left_behind_is_ended_with_the_program() {
    let Some(bench) = Bench::new() else { return };
    let daemon = "setsid sh -c 'echo $$ > daemon.pid; exec sleep 1000' &\n";
    let program = bench
        .start(&format!(
            "({daemon}); until [ -s daemon.pid ]; do sleep 0.01; done; attach; exec sleep 1000"
        ))
        .unwrap();
    assert!(bench.lives("daemon"));
    drop(program);
    assert!(!bench.lives("daemon") && !bench.lives("holder"));
}

#[test]
fn a_daemon_of_a_program_that_attached_nothing_is_ended() {
    let Some(bench) = Bench::new() else { return };
    let daemon = "setsid sh -c 'echo $$ > daemon.pid; exec sleep 1000' &\n";
    // It lives as long as the wait for a scheduler, unless another process's appears.
    let script =
        format!("({daemon}); until [ -s daemon.pid ]; do sleep 0.01; done; appear; exit 3");
    let reason = reason(bench.start(&script).err());
    assert!(reason.contains("did not attach the scheduler \"foreign\""), "{reason}");
    assert!(!bench.lives("daemon"));
}

#[test]
fn another_scheduler_that_appears_meanwhile_is_not_the_programs() {
    let Some(bench) = Bench::new() else { return };
    let reason = reason(bench.start("note holder; appear; exec sleep 1000").err());
    assert_eq!(
        reason,
        "\"sh\" did not attach the scheduler \"foreign\": no process that it has started has it open; \
         \"foreign\" is still attached: end the process that attached it, or remove its pinned link (`bpftool link` lists it)"
    );
    assert!(!bench.lives("holder"));
}

#[test]
fn a_scheduler_that_goes_with_its_program_is_not_reported_as_still_attached() {
    let Some(bench) = Bench::new() else { return };
    let state = bench.folder.path().join(SCHED_EXT).join("state");
    std::thread::scope(|scope| {
        // The kernel takes a moment to detach it.
        scope.spawn(|| {
            while !bench.folder.path().join("holder.pid").exists() || bench.lives("holder") {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(300));
            fs::write(state, "disabled").unwrap();
        });
        let reason = reason(bench.start("note holder; appear; exec sleep 1000").err());
        assert!(reason.ends_with("has it open"), "{reason}");
    });
}

#[test]
fn a_stop_is_heard_while_a_program_attaches_whatever_it_does_about_it() {
    let Some(bench) = Bench::new() else { return };
    let stop = Stop::new().unwrap();
    raise(Signal::SIGTERM).unwrap();
    let start = Instant::now();
    let script = "trap '' INT TERM; while :; do sleep 1; done";
    let reason = reason(bench.start_unless(&stop, script).err());
    assert_eq!(reason, "\"sh\" was stopped on request");
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn a_program_that_ignores_signals_is_killed() {
    let Some(bench) = Bench::new() else { return };
    let program = bench.start("trap '' INT TERM; attach; while :; do sleep 1; done").unwrap();
    program.stop().unwrap();
    assert!(!bench.lives("holder"));
}

#[test]
fn a_program_that_ends_is_reported_with_its_last_words() {
    let Some(bench) = Bench::new() else { return };
    let error = bench.start("echo one; echo two >&2; sleep 0.2; exit 3").err().unwrap();
    assert_eq!(error.to_string(), "\"sh\" ended without attaching a scheduler: exit status: 3");
    assert_eq!(error.detail(), "one\ntwo");
}

#[test]
fn a_missing_program_is_named() {
    let Some(bench) = Bench::new() else { return };
    let world =
        World { root: Root::below(bench.folder.path()), link: |_| None, patience: PATIENCE };
    let argv = ["/nonexistent/scx".to_owned()];
    let message = reason(RunningProgram::start(&argv, 3, &world, &Stop::new().unwrap()).err());
    assert!(message.starts_with("cannot start \"/nonexistent/scx\""), "{message}");
}
