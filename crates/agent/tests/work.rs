// SPDX-License-Identifier: GPL-2.0-only
//! What workloads and loads may do: anything else voids the sample and leaves the session as it
//! was.

mod common;

use common::{Session, beside, cgroups, plain, runs, sample, served};
use serde_json::json;

#[test]
fn work_that_does_not_stay_in_its_containment_voids_its_sample_alone() {
    let Some(mut session) = Session::start() else { return };
    let precious = tempfile::tempdir().unwrap();
    std::fs::write(precious.path().join("important"), "kept").unwrap();
    let bind = format!("mkdir x && mount --bind {} x", precious.path().display());
    let root = cgroups();
    let leave = format!("echo $$ >{root}/cgroup.procs");
    let nested = format!("mkdir -p {root}$(sed -n s/^0:://p /proc/self/cgroup)/a/b");
    assert!(session.reason(&plain(&bind)).contains("left mounted"));
    assert!(precious.path().join("important").exists());
    assert!(session.reason(&plain(&leave)).contains("left its control group"));
    assert!(session.reason(&plain("(setsid sleep 4712 &)")).contains("left 1 threads running"));
    let away = session.reason(&plain("umount -l /proc"));
    assert_eq!(away, "the workload unmounted what it had not mounted: /proc");
    let cover = format!("mount -t tmpfs x {root}; (setsid sleep 4712 &)");
    assert!(session.reason(&plain(&cover)).contains("left 1 threads running"));
    assert!(!runs("sleep 4712"));
    // The nested cgroup is empty again.
    session.ask(&plain(&nested));
    session.next("sample");
    // A preparation may mount what the workload needs.
    session.ask(&sample(
        "test -e x/y",
        &["mkdir x && mount -t tmpfs x x && touch x/y"],
        &json!({}),
    ));
    session.next("sample");
    // The workload may unmount what a preparation mounted.
    session.ask(&sample("umount x", &["mkdir x && mount -t tmpfs x x"], &json!({})));
    session.next("sample");
    session.ask(&plain("true"));
    session.next("sample");
    session.end();
}

#[test]
fn a_load_that_does_not_stay_in_its_containment_voids_its_sample_alone() {
    let Some(mut session) = Session::start() else { return };
    let busy = "while :; do :; done";
    let leave = format!("echo 0 >{}/cgroup.procs", cgroups());
    let escapes =
        format!("(setsid sh -c '{leave}; exec sleep 4716' &); sleep 0.2; echo ready; {busy}");
    let reason = session.reason(&beside(&escapes, "sleep 0.2"));
    let sentence = "the load `busy` had processes outside its control group, which were killed: ";
    assert!(reason.starts_with(&format!("{sentence}sleep[")), "{reason}");
    assert!(!runs("sleep 4716"));
    let burns = format!(
        "sh -c '{leave}; i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done'; echo ready; {busy}"
    );
    let reason = session.reason(&beside(&burns, "sleep 0.2"));
    assert!(reason.starts_with("the load `busy` used "), "{reason}");
    assert!(reason.ends_with(" s of CPU time outside its control group"), "{reason}");
    // The workload of a sample that fails takes its load's strays along.
    let reason = session.reason(&beside(&escapes, "sleep 0.2; exit 3"));
    assert_eq!(reason, "the workload `sh -c sleep 0.2; exit 3` failed with exit status 3");
    assert!(!runs("sleep 4716"));
    session.ask(&beside(&format!("echo ready; {busy}"), "sleep 0.2"));
    session.next("sample");
    session.end();
}

#[test]
fn a_load_that_waits_nearly_all_the_time_worked_if_it_counted_something() {
    let Some(mut session) = Session::start() else { return };
    let counts =
        r#"trap 'echo "{\"units\":3}"; exit 0' TERM; sleep 1000 & sleep 0.5; echo ready; wait"#;
    session.ask(&beside(counts, "sleep 2"));
    let taken = session.next("sample");
    assert_eq!(taken["metrics"]["load_units"], 3.0);
    session.end();
}

#[test]
fn output_that_is_not_a_number_voids_its_sample_and_the_session_goes_on() {
    let Some(mut session) = Session::start() else { return };
    let extract = json!({"extract": [{"metric": "speed", "find": {"pattern": "speed (\\S+)"}}]});
    for text in ["nan", "inf", "-infinity", "1e999"] {
        let reason = session.reason(&sample(&format!("echo speed {text}"), &[], &extract));
        let told = format!("the output has {text:?} for metric speed, which is not a number");
        assert!(reason.starts_with(&told), "{reason}");
    }
    session.ask(&sample("echo speed 1.5", &[], &extract));
    assert_eq!(session.next("sample")["metrics"]["speed"], 1.5);
    session.end();
}

/// Prints the settings that a process of the work begins with.
const SETTINGS: &str = "taskset -p $$ | sed 's/.*: //'; nice; chrt -p $$ | sed 's/.*: //'; ulimit -a; \
    ionice -p $$; cat /proc/self/timerslack_ns /proc/self/oom_score_adj; cat /proc/$PPID/cgroup";

#[test]
fn work_that_changes_the_agent_voids_its_sample_and_the_next_has_what_it_had() {
    let Some(mut session) = Session::start() else { return };
    let place = tempfile::tempdir().unwrap();
    let seen = |session: &mut Session| {
        let file = place.path().join("settings");
        session.ask(&plain(&format!("({SETTINGS}) >{}", file.display())));
        session.next("sample");
        std::fs::read_to_string(file).unwrap()
    };
    let before = seen(&mut session);
    let group = format!("{}/runoff-test-{}", cgroups(), std::process::id());
    for (change, sentence) in [
        ("renice -n 15 -p $PPID", "its nice value was 0, is 15"),
        ("chrt -b -p 0 $PPID", "its scheduling policy was SCHED_OTHER, is SCHED_BATCH"),
        ("chrt -f -p 1 $PPID", "its real-time priority was 0, is 1"),
        ("taskset -p 1 $PPID", "its set of CPUs was"),
        ("prlimit --pid $PPID --nofile=64:", "its limit nofile was"),
        ("echo 123456 >/proc/$PPID/timerslack_ns", "its timer slack was 50000 ns, is 123456 ns"),
        ("ionice -c 3 -p $PPID", "its I/O priority was"),
        ("echo 500 >/proc/$PPID/oom_score_adj", "its oom_score_adj was 0, is 500"),
        (
            &format!("mkdir {group} && echo $PPID >{group}/cgroup.procs") as &str,
            "its control group was",
        ),
    ] {
        let reason = session.reason(&plain(change));
        if change.contains("taskset") && std::thread::available_parallelism().unwrap().get() == 1 {
            continue;
        }
        let told = format!("the workload changed the agent that measures it: {sentence}");
        assert!(
            reason.starts_with("the workload changed") && reason.contains(sentence),
            "{told}: {reason}"
        );
        assert_eq!(seen(&mut session), before, "{change}");
    }
    std::fs::remove_dir(group).unwrap();
    session.end();
}

#[test]
fn a_directory_that_was_replaced_or_moved_voids_its_sample_and_nothing_stays() {
    let Some(mut session) = Session::start() else { return };
    let (precious, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(precious.path().join("important"), "kept").unwrap();
    let replaces =
        format!("d=$PWD; cd /; rm -r \"$d\"; ln -s {} \"$d\"", precious.path().display());
    let reason = session.reason(&plain(&replaces));
    assert!(
        reason.ends_with("was replaced by something that is not a directory, which was removed"),
        "{reason}"
    );
    assert!(precious.path().join("important").exists());
    let target = elsewhere.path().join("moved");
    let reason = session.reason(&plain(&format!("mv \"$PWD\" {}", target.display())));
    assert_eq!(
        reason,
        format!("the workload moved its directory to {}, where it stays", target.display())
    );
    session.ask(&plain("d=$PWD; cd /; rm -r \"$d\""));
    session.next("sample");
    session.end();
}

#[test]
fn leftovers_that_outlive_all_processes_are_reported() {
    let Some(mut session) = Session::start() else { return };
    let name = format!("/dev/shm/runoff-test-{}", std::process::id());
    session.ask(&plain(&format!("touch {name}")));
    let mut told = String::new();
    let event = loop {
        let event = session.event();
        match event["type"].as_str().unwrap() {
            "log" => told.push_str(event["text"].as_str().unwrap()),
            "progress" => {}
            _ => break event,
        }
    };
    std::fs::remove_file(&name).unwrap();
    assert_eq!(event["type"], "sample");
    let sentence =
        "since the sample 1 there is on this machine, made by its work or by something else: ";
    assert!(told.starts_with(sentence) && told.contains(&name), "{told}");
    session.end();
}

#[test]
fn places_that_work_may_not_use_are_refused() {
    let Some(mut session) = Session::start() else { return };
    let open = tempfile::tempdir().unwrap();
    std::fs::set_permissions(open.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .unwrap();
    let full = tempfile::tempdir().unwrap();
    std::fs::write(full.path().join("important"), "kept").unwrap();
    let places = [
        "tmp",
        "/tmp/../etc",
        "/nonexistent",
        "/etc/passwd",
        "/",
        "/etc",
        "/usr/bin",
        "/proc/self",
        "/sys",
        "/dev/shm",
        open.path().to_str().unwrap(),
    ];
    for place in places {
        let reason = session.reason(&sample("true", &[], &json!({"scratch": place})));
        assert!(reason.contains(place), "{reason}");
    }
    let disk = json!({
        "kind": "made", "elevator": "noop", "parameters": {}, "model": "none", "size_mb": 16, "content": "/dev/null",
        "file": null,
    });
    let order = json!({"scratch": full.path(), "disk": disk});
    let reason = session.reason(&sample("true", &[], &order));
    assert!(reason.contains("a disk would hide what is in it"), "{reason}");
    assert!(full.path().join("important").exists());
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(full.path(), root.path().join("tmp")).unwrap();
    let order = json!({"scratch": "/tmp", "root": root.path()});
    let reason = session.reason(&sample("true", &[], &order));
    assert!(reason.contains("leads out of"), "{reason}");
    let reason = session.reason(&sample("true", &[], &json!({"timeout_s": -1.0})));
    assert_eq!(reason, "the time-out -1 is not a number of seconds");
    session.end();
}

#[test]
fn a_server_works_in_a_group_of_its_own_and_is_counted_apart() {
    let Some(mut session) = Session::start() else { return };
    // It needs longer to begin than for what its client asks, and answers each line with its control group.
    let server = "trap 'exit 0' TERM; mkfifo asked; n=0; while [ $n -lt 3000000 ]; do n=$((n+1)); done; touch up
        while :; do n=0; read line <asked; cat /proc/self/cgroup >answer.$line; cut -d' ' -f19,41 /proc/$$/stat >kind
            while [ $n -lt 200000 ]; do n=$((n+1)); done; done";
    let client = "for i in 1 2 3; do echo $i >asked; done; sleep 0.1
        server=$(sed -n s/^0:://p answer.1) own=$(sed -n s/^0:://p /proc/self/cgroup)
        case ${server##*/} in *-server*) ;; *) exit 4;; esac
        case ${own##*/} in *-client*) ;; *) exit 5;; esac
        [ ${server%/*} = ${own%/*} ] || exit 6
        case ${own%/*} in *-workload*) ;; *) exit 7;; esac
        [ \"$(cat kind)\" = '3 3' ] && [ \"$(cut -d' ' -f19,41 /proc/$$/stat)\" = '3 3' ] || exit 8";
    let mut request = served(server, "test -e up", client, &json!({}));
    // 3 is the number of SCHED_BATCH too.
    request["workload"]["settings"] =
        json!([{"name": "nice", "value": "3"}, {"name": "policy", "value": "batch"}]);
    session.ask(&request);
    let taken = session.next("sample");
    let metric = |name: &str| taken["metrics"][name].as_f64().unwrap();
    assert!(metric("server_user_s") > 3.0 * metric("user_s"), "{taken}");
    // What it needed to begin, five times as much as its answers, does not count.
    assert!((10.0..300.0).contains(&metric("server_cpu_pct")), "{taken}");
    session.end();
}

#[test]
fn a_server_that_does_not_serve_voids_its_sample_alone() {
    let Some(mut session) = Session::start() else { return };
    let busy = "while :; do :; done";
    let ended =
        served("echo no >&2; echo 'port 80 is in use' >&2; exit 3", "false", "true", &json!({}));
    session.ask(&ended);
    let void = session.next("void");
    let told = "the server of the workload ended too early (exit status: 3): port 80 is in use";
    assert_eq!((&void["reason"], &void["detail"]), (&json!(told), &json!("no\nport 80 is in use")));
    let limit = json!({"timeout_s": 0.5});
    let silent = served("sleep 1000", "echo 'no answer' >&2; exit 1", "true", &limit);
    let told = "the server of the workload was not ready within 0.5 s: no answer";
    assert_eq!(session.reason(&silent), told);
    let hangs = served("sleep 1000", "sleep 1000", "true", &limit);
    let told = "the server of the workload was not ready within 0.5 s";
    assert_eq!(session.reason(&hangs), told);
    let idle = "echo $$ >pid; exec sleep 4718";
    let sleeps = "grep -q '(sleep) S' /proc/$(cat pid)/stat";
    let reason = session.reason(&served(idle, sleeps, "sleep 0.2", &json!({})));
    let told = "the server of the workload used next to no CPU time while that ran: something else answered";
    assert_eq!(reason, told);
    let dies = "echo $$ >pid; sleep 0.2; echo 'no memory' >&2; echo 'I end' >&2; exit 4";
    let client = "until grep -q ') Z' /proc/$(cat pid)/stat; do sleep 0.05; done; exit 3";
    session.ask(&served(dies, "test -s pid", client, &json!({})));
    let void = session.next("void");
    let told = "the server of the workload ended too early (exit status: 4): I end";
    assert_eq!((&void["reason"], &void["detail"]), (&json!(told), &json!("no memory\nI end")));
    let reason = session.reason(&served(busy, "true", "sleep 0.2; exit 3", &json!({})));
    assert_eq!(reason, "the workload `sh -c sleep 0.2; exit 3` failed with exit status 3");
    let leave = format!("echo 0 >{}/cgroup.procs", cgroups());
    let escapes =
        format!("(setsid sh -c '{leave}; exec sleep 4719' &); sleep 0.2; touch up; {busy}");
    let reason = session.reason(&served(&escapes, "test -e up", "sleep 0.2", &json!({})));
    let sentence =
        "the server of the workload had processes outside its control group, which were killed: ";
    assert!(reason.starts_with(&format!("{sentence}sleep[")), "{reason}");
    assert!(!runs("sleep 4718") && !runs("sleep 4719"));
    session.ask(&served(busy, "true", "sleep 0.2", &json!({"rehearse": true})));
    session.next("sample");
    session.end();
}

#[test]
fn processes_of_a_server_that_end_at_the_moment_are_not_outside() {
    let Some(mut session) = Session::start() else { return };
    let server = "touch up; while :; do /bin/true & /bin/true & /bin/true; done";
    for _ in 0..40 {
        session.ask(&served(server, "test -e up", "sleep 0.02", &json!({})));
        session.next("sample");
    }
    session.end();
}

#[test]
fn what_a_server_prints_is_not_what_its_client_prints() {
    let Some(mut session) = Session::start() else { return };
    let extract = json!([{"metric": "n", "find": {"pattern": "n ([0-9]+)"}}]);
    let server = "echo n 1; while :; do :; done";
    let request = served(server, "echo n 2", "sleep 0.2; echo n 3", &json!({"extract": extract}));
    session.ask(&request);
    assert_eq!(session.next("sample")["metrics"]["n"], 3.0);
    session.end();
}
