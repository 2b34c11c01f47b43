// SPDX-License-Identifier: GPL-2.0-only
//! Plays scenes by the program that people run: its actors are processes of it.

mod common;

use std::fs::{read, read_dir, read_to_string};
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Ended, run, workloads};
use serde_json::Value;
use tempfile::tempdir;

/// However busy the machine is.
const LIMIT: Duration = Duration::from_mins(4);

/// The variable of the environment that a scene's processes are found by.
const MARK: &str = "RUNOFF_TEST_SCENE";

/// A scene long enough for scripts that end by themselves.
fn command(lines: &str) -> Command {
    let mut command = workloads("scene");
    if !lines.contains("lasts") {
        command.arg("lasts 300s");
    }
    command.args(lines.lines());
    command
}

#[track_caller]
fn play(lines: &str) -> Value {
    figures(&run(command(lines), LIMIT))
}

#[track_caller]
fn figures(ended: &Ended) -> Value {
    assert_eq!(ended.code(), Some(0), "{}", ended.err);
    serde_json::from_str(&ended.out).unwrap()
}

#[track_caller]
fn metric(figures: &Value, name: &str) -> f64 {
    figures["metrics"][name].as_f64().unwrap_or_else(|| panic!("{name} is not in {figures}"))
}

/// Directories in /proc of the processes with that mark.
fn marked(name: &str) -> Vec<PathBuf> {
    let mark = format!("{MARK}={name}");
    let has_it = |place: &PathBuf| {
        let text = read(place.join("environ")).unwrap_or_default();
        text.windows(mark.len()).any(|part| part == mark.as_bytes())
    };
    read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).filter(has_it).collect()
}

#[track_caller]
fn until(there: impl Fn() -> bool) {
    let begin = Instant::now();
    while !there() {
        assert!(begin.elapsed() < LIMIT, "it does not come");
        sleep(Duration::from_millis(10));
    }
}

fn done(figures: &Value, actor: &str) -> u64 {
    figures["actors"][actor]["done"].as_u64().unwrap_or_else(|| panic!("no {actor}: {figures}"))
}

#[test]
fn every_actor_does_what_the_script_says() {
    let actors = &play(
        "hog: nice 5, busy 50
         nap*2: policy batch, sleep 20, run 1, sleep 20
         parent: run 2, thread child, sleep 10, vfork, yield 5, done
         child: run 3",
    )["actors"];
    let names: Vec<_> = actors.as_object().unwrap().keys().collect();
    assert_eq!(names, ["child", "hog", "nap0", "nap1", "parent"]);
    assert!(actors["hog"]["cpu_s"].as_f64() > Some(0.0));
    assert_eq!((&actors["nap0"]["wakes"], &actors["nap1"]["runs"]), (&2.into(), &1.into()));
    assert!((0.003..0.1).contains(&actors["child"]["cpu_s"].as_f64().unwrap()), "{actors}");
    assert!(actors["child"]["run_mean_ms"].as_f64() >= Some(3.0));
    let parent = &actors["parent"];
    assert_eq!(
        (&parent["wakes"], &parent["runs"], &parent["done"]),
        (&1.into(), &1.into(), &1.into())
    );
}

#[test]
fn the_timeline_has_every_actor_and_is_not_printed() {
    let directory = tempdir().unwrap();
    let file = directory.path().join("timeline");
    let mut command =
        command("nap: sleep 20, run 2, sleep 20, run 2, sleep 20\na: thread b\nb: run 3");
    command.arg("--timeline").arg(&file);
    let ended = run(command, LIMIT);
    figures(&ended);
    assert!(!ended.out.contains("timeline"));
    let line: Value = serde_json::from_str(&read_to_string(file).unwrap()).unwrap();
    let actors = &line["timeline"];
    assert_eq!(actors["nap"]["waits"].as_array().unwrap().len(), 3, "{line}");
    let ran = |name: &str| {
        let runs = actors[name]["runs"].as_array().unwrap();
        runs.iter().map(|run| run[1].as_f64().unwrap() - run[0].as_f64().unwrap()).sum::<f64>()
    };
    assert!(ran("b") > 1.5 && ran("nap") > 1.5, "{line}");
}

#[test]
fn what_is_repeated_ends_with_the_scene_or_after_its_rounds() {
    assert!(play("lasts 300ms\nnap: repeat, sleep 1")["elapsed_s"].as_f64() >= Some(0.3));
    let figures = play("nap: sleep 1, repeat 4, sleep 1, done, done");
    assert_eq!((&figures["actors"]["nap"]["wakes"], done(&figures, "nap")), (&5.into(), 8));
    let elapsed = figures["elapsed_s"].as_f64().unwrap();
    assert_eq!(metric(&figures, "nap_done_per_s"), 8.0 / elapsed);
}

#[test]
fn messages_are_received_as_often_as_they_were_sent() {
    let figures = play(
        "pipe there 4096
         socket back 4096
         client*3: repeat 50, send there 6000, receive back 3, done
         server: repeat 150, receive there 6000, run 0.01, send back 3, done",
    );
    assert_eq!((done(&figures, "server"), done(&figures, "client2")), (150, 50));
    assert_eq!(figures["actors"]["client2"]["waits"], 100);
}

#[test]
fn locks_events_and_barriers_let_everybody_go_on() {
    let figures = play(
        "lock m
         event go
         barrier start 6
         worker*4: meet start, repeat 20, wait go, lock m, run 0.05, unlock m, done
         master: meet start, repeat 80, signal go, sleep 0.1
         late: meet start, sleep 1",
    );
    assert_eq!((0..4).map(|copy| done(&figures, &format!("worker{copy}"))).sum::<u64>(), 80);
}

#[test]
fn nobody_runs_beside_the_one_that_holds_a_lock() {
    let figures = play("lock m\na*3: repeat 5, lock m, run 5, unlock m, done");
    // Fifteen runs of 5 ms, one after the other.
    assert!(figures["elapsed_s"].as_f64() >= Some(0.075), "{figures}");
    assert!(metric(&figures, "a_wait_p99_us") >= 5_000.0, "{figures}");
}

#[test]
fn a_broadcast_lets_all_go_on_that_wait() {
    let figures =
        play("lasts 3s\nevent e\nwaiter*5: wait e, done\nlate: repeat, sleep 20, broadcast e");
    assert_eq!((0..5).map(|copy| done(&figures, &format!("waiter{copy}"))).sum::<u64>(), 5);
}

#[test]
fn a_scene_ends_while_everybody_waits() {
    let figures = play(
        "lasts 2s
         pipe p
         lock m
         event e
         barrier b 2
         holder: lock m, sleep 60s, unlock m
         queue: lock m, unlock m
         reader: receive p
         writer: repeat, send p 1000000, sleep 1
         waiter: wait e
         signaller: sleep 60s, signal e
         early: meet b
         never: sleep 60s, meet b",
    );
    assert!((2.0..60.0).contains(&figures["elapsed_s"].as_f64().unwrap()), "{figures}");
    // It would have waited that long at least.
    assert!(metric(&figures, "waiter_wait_p99_us") > 0.0, "{figures}");
    assert_eq!(figures["actors"]["waiter"]["waits"], 0);
}

#[test]
fn jobs_are_counted_together() {
    let figures = play("make: repeat 3, fork cc, await cc, done\ncc*2: run 0.1, done, exit");
    let actors = &figures["actors"];
    assert_eq!((&actors["cc0"]["runs"], &actors["cc1"]["done"]), (&3.into(), &3.into()));
    assert_eq!((&actors["make"]["waits"], done(&figures, "make")), (&3.into(), 3));
    let elapsed = figures["elapsed_s"].as_f64().unwrap();
    assert_eq!(metric(&figures, "cc_done_per_s"), 6.0 / elapsed);
}

#[test]
fn an_actor_goes_on_in_a_new_program_with_its_notes_and_all_that_it_shares() {
    let figures = play(
        "pipe p
         lock m
         event e
         server: repeat 4, receive p 10, lock m, unlock m, signal e
         client: run 1, repeat 4, lock m, exec, send p 10, unlock m, exec, wait e, run 1, done",
    );
    let client = &figures["actors"]["client"];
    assert_eq!((&client["runs"], done(&figures, "client")), (&5.into(), 4));
    assert!(client["cpu_s"].as_f64() >= Some(0.005), "{client}");
    assert_eq!(client["waits"], 12);
}

#[test]
fn a_timer_keeps_its_rhythm_and_counts_what_it_misses() {
    let figures = play("lasts 1s\nbeat: repeat, timer 100, done\nlate: repeat, timer 10, busy 95");
    assert!(done(&figures, "beat") <= 10, "{figures}");
    assert!(metric(&figures, "late_missed_pct") >= 85.0, "{figures}");
    let starved = play("lasts 200ms\nlong: timer 10, busy 500");
    assert!(starved["actors"]["long"]["missed"].as_u64() >= Some(10), "{starved}");
}

#[test]
fn times_are_drawn_between_their_ends_and_again_alike() {
    let drawn = || {
        let figures = play("a*2: repeat 20, run 1..30");
        ["a0", "a1"].map(|name| figures["actors"][name]["cpu_s"].as_f64().unwrap() * 1e3)
    };
    let (first, second) = (drawn(), drawn());
    assert!(first.iter().all(|sum| (20.0 * 5.0..20.0 * 26.0).contains(sum)), "{first:?}");
    // Sums of 20 differ by 53 ms as a rule where they are drawn anew, as those of two copies are.
    for (one, other) in first.iter().zip(second) {
        assert!((one - other).abs() < 6.0, "{first:?} {second:?}");
    }
    assert!((first[0] - first[1]).abs() > 12.0, "{first:?}");
}

#[test]
fn timers_of_actors_have_no_slack() {
    let mut command =
        command("lasts 300s\na: fork b, sleep 200s\nb: thread c, sleep 200s\nc: sleep 200s");
    let name = format!("slack{}", std::process::id());
    let mut play = command.env(MARK, &name).spawn().unwrap();
    let slacks = || {
        let tasks = marked(&name).into_iter().filter_map(|place| read_dir(place.join("task")).ok());
        let each = tasks.flatten().filter_map(|task| {
            read_to_string(format!("/proc/{}/timerslack_ns", task.ok()?.file_name().display())).ok()
        });
        each.filter(|slack| slack == "1\n").count()
    };
    until(|| slacks() == 3);
    play.kill().unwrap();
    play.wait().unwrap();
}

#[test]
fn files_are_read_and_written_on_a_disk_and_go_with_the_scene() {
    let directory = tempdir().unwrap();
    let mut command = command("file f 1\na*2: repeat 20, read f, write f 1024, read f 1024, done");
    command.current_dir(directory.path());
    let ended = run(command, LIMIT);
    assert_eq!(done(&figures(&ended), "a1"), 20);
    assert_eq!(read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn only_the_first_of_many_are_listed_and_all_are_measured() {
    let figures = play("a*40: run 0.1, done");
    assert_eq!(figures["actors"].as_object().unwrap().len(), 16);
    let elapsed = figures["elapsed_s"].as_f64().unwrap();
    assert_eq!(metric(&figures, "a_done_per_s"), 40.0 / elapsed);
}

#[test]
fn no_actor_stays_when_the_program_is_killed() {
    let mut command = command(
        "lasts 300s\npipe p\na: repeat, fork b, await b\nb*2: exec, run 1000, exec, receive p\nc: sleep 200s, send p",
    );
    let name = format!("killed{}", std::process::id());
    let mut play = command.env(MARK, &name).spawn().unwrap();
    until(|| marked(&name).len() == 5);
    play.kill().unwrap();
    play.wait().unwrap();
    until(|| marked(&name).is_empty());
}

#[test]
fn what_cannot_be_played_is_one_sentence_with_its_line() {
    let refused =
        |lines: &str, code, words: &str| run(command(lines), LIMIT).assert_sentence(code, words);
    refused("lasts 1s\na: run 1,\n on 1023", 1, "line 3: a: cannot use only the CPUs [1023]");
    refused("lasts 1s\na: hop", 64, "line 2: \"hop\" is not a step; there are on, nice, ");
}

#[test]
fn the_metrics_of_a_scene_are_known_before_it_is_played() {
    let text = "lock m\nrepeat*2: repeat, timer 5, lock m, run 1, unlock m, done\nb: busy 1";
    let mut check = command(text);
    check.arg("--check");
    let listed: Value = serde_json::from_str(&run(check, LIMIT).out).unwrap();
    let names = |values: &Value| -> Vec<String> {
        values.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().into()).collect()
    };
    let mut names = names(&listed);
    let first = &listed[0];
    assert_eq!((&first["unit"], &first["direction"]), (&"us".into(), &"lower".into()));
    assert_eq!(first["title"], "repeat wake-up latency p99");
    names.sort();
    let figures = play(&format!("lasts 100ms\n{text}"));
    let measured: Vec<_> = figures["metrics"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, measured);
    assert_eq!(measured.len(), 5, "{measured:?}");
}
