// SPDX-License-Identifier: GPL-2.0-only
//! Commands that try to stay: by leaving their cgroup, nesting others, daemons, refusing to end.

mod common;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{Bench, SOON, alone, cgroups, contained, runs};
use machine::cgroup::{self, Purpose};
use machine::command::{Ending, Outside, outside};
use machine::containment::Containment;
use machine::owner::Agent;
use machine::root::Root;
use nix::mount::{MsFlags, mount};
use nix::time::{ClockId, clock_gettime};

fn escaped(ending: &Ending) -> &Outside {
    match ending {
        Ending::Escaped(outside) => outside,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_that_stays_and_ends_well_is_reported_with_its_status() {
    alone("a_command_that_stays_and_ends_well_is_reported_with_its_status", || {
        let (bench, containment) = (Bench::new(), contained());
        let (outcome, _) = bench.run("exit 3", 600.0, &containment);
        assert_eq!(outcome.ending, Ending::Exit(3));
        containment.end().unwrap();
        assert_eq!(bench.ended(), (Ok(()), vec![]));
    });
}

#[test]
fn a_command_that_leaves_its_cgroup_is_ended_at_the_time_out() {
    alone("a_command_that_leaves_its_cgroup_is_ended_at_the_time_out", || {
        let (bench, containment) = (Bench::new(), contained());
        let script = format!("echo $$ >{}/cgroup.procs; exec sleep 4711.1", cgroups());
        let (outcome, took) = bench.run(&script, 0.5, &containment);
        assert_eq!(outcome.ending, Ending::TimedOut);
        assert!(took < SOON, "{took:?}");
        assert!(!runs("sleep 4711.1"));
        containment.end().unwrap();
    });
}

#[test]
fn a_command_that_ends_outside_its_cgroup_is_reported() {
    alone("a_command_that_ends_outside_its_cgroup_is_reported", || {
        let (bench, containment) = (Bench::new(), contained());
        let script = format!("echo $$ >{}/cgroup.procs", cgroups());
        let (outcome, _) = bench.run(&script, 600.0, &containment);
        assert!(escaped(&outcome.ending).leader);
        containment.end().unwrap();
    });
}

#[test]
fn a_child_that_leaves_is_reported_and_ended_even_as_a_daemon() {
    alone("a_child_that_leaves_is_reported_and_ended_even_as_a_daemon", || {
        let (bench, containment) = (Bench::new(), contained());
        let daemon = format!("echo \\$\\$ >{}/cgroup.procs; exec sleep 4711.2", cgroups());
        let script = format!("(setsid sh -c \"{daemon}\" &); sleep 0.3");
        let (outcome, _) = bench.run(&script, 600.0, &containment);
        let outside = escaped(&outcome.ending);
        assert_eq!(
            outside.strays.iter().map(|stray| stray.name.as_str()).collect::<Vec<_>>(),
            ["sleep"]
        );
        assert!(!outside.leader && !runs("sleep 4711.2"));
        containment.end().unwrap();
    });
}

#[test]
fn work_that_was_done_outside_is_reported_after_its_process_has_ended() {
    alone("work_that_was_done_outside_is_reported_after_its_process_has_ended", || {
        let (bench, containment) = (Bench::new(), contained());
        let burn = "i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done";
        let script = format!("sh -c 'echo $$ >{}/cgroup.procs; {burn}'", cgroups());
        let (outcome, _) = bench.run(&script, 60.0, &containment);
        let outside = escaped(&outcome.ending);
        assert!(
            outside.cpu.is_some() && outside.strays.is_empty() && !outside.leader,
            "{outside:?}"
        );
        containment.end().unwrap();
    });
}

#[test]
fn a_daemon_inside_is_left_behind_and_ended() {
    alone("a_daemon_inside_is_left_behind_and_ended", || {
        let (bench, containment) = (Bench::new(), contained());
        let (outcome, _) = bench.run("(setsid sleep 4711.3 &)", 600.0, &containment);
        assert_eq!(outcome.ending, Ending::LeftBehind(1));
        containment.end().unwrap();
        assert!(!runs("sleep 4711.3"));
    });
}

#[test]
fn nested_cgroups_are_removed_and_the_next_sample_has_its_own() {
    alone("nested_cgroups_are_removed_and_the_next_sample_has_its_own", || {
        let (bench, containment) = (Bench::new(), contained());
        let nest = "own=$(sed -n s/^0:://p /proc/self/cgroup)";
        let script = format!(
            "{nest}; here={}/$own; mkdir -p $here/a/b $here/c; (echo 0 >$here/a/b/cgroup.procs; exec sleep 4711.4) & sleep 0.2",
            cgroups()
        );
        let (outcome, _) = bench.run(&script, 600.0, &containment);
        assert_eq!(outcome.ending, Ending::LeftBehind(1));
        let path = containment.cgroup().path().to_owned();
        containment.end().unwrap();
        assert!(!path.exists() && !runs("sleep 4711.4"));
        contained().end().unwrap();
    });
}

#[test]
fn nesting_without_end_is_refused_by_the_kernel() {
    alone("nesting_without_end_is_refused_by_the_kernel", || {
        let (bench, containment) = (Bench::new(), contained());
        let here = containment.cgroup().path().display().to_string();
        let script = format!(
            "d={here}; i=0; while mkdir $d/x 2>/dev/null; do d=$d/x; i=$((i+1)); done; [ $i -lt 100 ]"
        );
        let (outcome, _) = bench.run(&script, 600.0, &containment);
        assert_eq!(outcome.ending, Ending::Exit(0));
        containment.end().unwrap();
    });
}

/// Whether the rest of the machine sees the directory, even if this process does not.
fn is_there_outside(path: &Path) -> bool {
    let parent = std::os::unix::process::parent_id();
    let outside = format!("/proc/{parent}/root{}", path.display());
    std::fs::read_dir(outside).is_ok_and(|mut entries| entries.next().is_some())
}

#[test]
fn a_command_that_covers_the_control_groups_is_ended_with_all_that_it_has_started() {
    alone("a_command_that_covers_the_control_groups_is_ended_with_all_that_it_has_started", || {
        let (bench, containment) = (Bench::new(), contained());
        let path = containment.cgroup().path().to_owned();
        let script = format!("mount -t tmpfs x {}; sleep 4711.8 & sleep 4711.8", cgroups());
        let (outcome, _) = bench.run(&script, 0.5, &containment);
        assert_eq!(outcome.ending, Ending::TimedOut);
        assert!(!runs("sleep 4711.8") && is_there_outside(&path));
        containment.end().unwrap();
        assert!(!is_there_outside(&path));
    });
}

#[test]
fn a_control_group_is_found_again_whatever_is_mounted_over_it() {
    alone("a_control_group_is_found_again_whatever_is_mounted_over_it", || {
        let (bench, containment) = (Bench::new(), contained());
        let path = containment.cgroup().path().to_owned();
        let nothing = MsFlags::empty();
        mount(Some("x"), cgroups().as_str(), Some("tmpfs"), nothing, None::<&str>).unwrap();
        let (outcome, _) = bench.run("sleep 4711.9 & sleep 4711.9", 0.3, &containment);
        assert_eq!(outcome.ending, Ending::TimedOut);
        assert!(!runs("sleep 4711.9") && is_there_outside(&path));
        containment.end().unwrap();
        assert!(!is_there_outside(&path));
        let error = Containment::create(&Root::machine(), Purpose::Load).unwrap_err().to_string();
        assert!(error.contains("something else is mounted on"), "{error}");
    });
}

#[test]
fn a_command_that_unmounts_what_the_agent_reads_does_not_disturb_the_next() {
    alone("a_command_that_unmounts_what_the_agent_reads_does_not_disturb_the_next", || {
        for script in ["umount -l /proc".to_owned(), format!("umount -l {}", cgroups())] {
            let (bench, containment) = (Bench::new(), contained());
            assert_eq!(
                bench.run(&script, 600.0, &containment).0.ending,
                Ending::Exit(0),
                "{script}"
            );
            containment.end().unwrap();
            let (bench, containment) = (Bench::new(), contained());
            let (outcome, _) = bench.run("test -e /proc/self/exe", 600.0, &containment);
            assert_eq!(outcome.ending, Ending::Exit(0), "after {script}");
            containment.end().unwrap();
        }
    });
}

#[test]
fn a_stopped_and_a_frozen_command_end_at_the_time_out() {
    alone("a_stopped_and_a_frozen_command_end_at_the_time_out", || {
        let bench = Bench::new();
        let freeze = format!(
            "echo 1 >{}$(sed -n s/^0:://p /proc/self/cgroup)/cgroup.freeze; sleep 4711.5",
            cgroups()
        );
        for script in ["kill -STOP $$", &freeze] {
            let containment = contained();
            let (outcome, took) = bench.run(script, 0.3, &containment);
            assert_eq!(outcome.ending, Ending::TimedOut, "{script}");
            assert!(took < SOON, "{script}: {took:?}");
            containment.end().unwrap();
        }
        assert!(!runs("sleep 4711.5"));
    });
}

#[test]
fn a_command_that_ignores_sigterm_ends_when_the_agent_is_to_stop() {
    alone("a_command_that_ignores_sigterm_ends_when_the_agent_is_to_stop", || {
        let (bench, containment) = (Bench::new(), contained());
        let script =
            format!("trap '' TERM; kill -TERM {}; sleep 4711.6; sleep 4711.6", std::process::id());
        let (outcome, took) = bench.run(&script, 60.0, &containment);
        assert_eq!(outcome.ending, Ending::Stopped);
        assert!(took < SOON, "{took:?}");
        containment.end().unwrap();
        assert!(!runs("sleep 4711.6"));
    });
}

#[test]
fn without_free_process_numbers_a_command_is_refused_with_a_message() {
    alone("without_free_process_numbers_a_command_is_refused_with_a_message", || {
        let (bench, containment) = (Bench::new(), contained());
        let limited = Limited::to_itself();
        let argv = ["sleep".to_owned(), "1".to_owned()];
        let error = machine::command::run(&argv, &bench.around(5.0), &containment, |_| ());
        drop(limited);
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("cannot start sleep: "), "{error}");
        containment.end().unwrap();
    });
}

/// This process in a cgroup that has no room for another one, by the controller pids of either
/// version.
struct Limited(std::path::PathBuf, std::path::PathBuf);

impl Limited {
    fn to_itself() -> Self {
        let v1 = std::path::PathBuf::from("/sys/fs/cgroup/pids");
        let top = if v1.join("cgroup.procs").exists() { v1 } else { cgroups().into() };
        let _has_it = std::fs::write(top.join("cgroup.subtree_control"), "+pids");
        let own = top.join(Agent::this().name("workload"));
        std::fs::create_dir(&own).unwrap();
        let pid = std::process::id().to_string();
        std::fs::write(own.join("cgroup.procs"), pid).unwrap();
        std::fs::write(own.join("pids.max"), "1").unwrap();
        Self(own, top)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        std::fs::write(self.1.join("cgroup.procs"), std::process::id().to_string()).unwrap();
        std::fs::remove_dir(&self.0).unwrap();
    }
}

#[test]
fn leftovers_of_a_killed_agent_are_found_by_pid_and_start_and_removed() {
    alone("leftovers_of_a_killed_agent_are_found_by_pid_and_start_and_removed", || {
        let this = Agent::this();
        // Another process with the same number, as agents of containers often have.
        let gone = Agent { started: this.started - 1, ..this };
        let path = std::path::PathBuf::from(cgroups()).join(format!("{gone}load-0"));
        std::fs::create_dir_all(path.join("nested/deeper")).unwrap();
        let living = Containment::create(&Root::machine(), Purpose::Load).unwrap();
        let mut daemon = std::process::Command::new("sleep").arg("4711.7").spawn().unwrap();
        std::fs::write(path.join("nested/deeper/cgroup.procs"), daemon.id().to_string()).unwrap();
        let left = cgroup::left_behind(&Root::machine()).unwrap();
        let paths: Vec<_> = left.iter().map(|cgroup| cgroup.path().to_owned()).collect();
        assert!(
            paths.contains(&path) && !paths.iter().any(|other| other == living.cgroup().path())
        );
        let found = left.iter().find(|cgroup| cgroup.path() == path).unwrap();
        found.remove().unwrap();
        assert!(!path.exists());
        assert!(!daemon.wait().unwrap().success());
        living.end().unwrap();
    });
}

#[test]
fn what_a_command_uses_before_it_is_inside_is_not_its_own() {
    alone("what_a_command_uses_before_it_is_inside_is_not_its_own", || {
        let containment = contained();
        let burn = || {
            let used = || clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from);
            while used()? < Duration::from_millis(400) {}
            Ok(())
        };
        let mut command = Command::new("true");
        // SAFETY: `burn` only reads a clock.
        unsafe { command.pre_exec(burn) };
        let mut process = containment.spawn(&mut command).unwrap();
        let ended = process.reap(SOON).unwrap().unwrap();
        assert!(ended.cpu < Duration::from_millis(100), "{ended:?}");
        assert_eq!(outside(&ended, &containment).unwrap(), Outside::default());
        containment.end().unwrap();
    });
}

#[test]
fn a_nested_containment_is_under_the_other_and_goes_with_it() {
    alone("a_nested_containment_is_under_the_other_and_goes_with_it", || {
        let (bench, outer) = (Bench::new(), contained());
        let inner = outer.create_nested(Purpose::Server).unwrap();
        let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let (outcome, _) = bench.run(script, 600.0, &inner);
        assert_eq!(outcome.ending, Ending::Exit(0));
        let (of_outer, of_inner) = (outer.cgroup().cpu_time(), inner.cgroup().cpu_time());
        assert!(of_inner.unwrap().total_s() > 0.0);
        assert_eq!(of_outer.unwrap(), inner.cgroup().cpu_time().unwrap());
        let (outcome, _) = bench.run("sleep 4711.9 & wait", 0.3, &inner);
        assert_eq!(outcome.ending, Ending::TimedOut);
        // The outer one takes the inner one along.
        let path = inner.cgroup().path().to_owned();
        assert!(path.starts_with(outer.cgroup().path()) && path.exists());
        outer.end().unwrap();
        assert!(!path.exists() && !runs("sleep 4711.9"));
        inner.end().unwrap();
        assert_eq!(bench.ended(), (Ok(()), vec![]));
    });
}
