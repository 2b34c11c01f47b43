// SPDX-License-Identifier: GPL-2.0-only
//! What is a scene, and the sentence for what is not.

use std::time::Duration;

use proptest::prelude::*;
use scene::{Kind, Length, Policy, Scene, Step, metrics};

fn scene(text: &str) -> Scene {
    text.parse().unwrap_or_else(|mistake| panic!("{mistake}: {text}"))
}

fn refused(text: &str) -> String {
    text.parse::<Scene>().expect_err(text).to_string()
}

fn ms(ms: u64) -> Length {
    Length { least: Duration::from_millis(ms), most: Duration::from_millis(ms) }
}

#[test]
fn a_scene_is_what_is_shared_and_who_does_what() {
    let scene = scene(
        "# a comment
         lasts 1.5s   # another one
         pipe jobs 8192

         boss: on 0 2, nice -5, policy fifo,
             # and then
             repeat 7, sleep 0.5, send jobs 100, run 2..9

         worker*3: repeat, receive jobs 100, done",
    );
    assert_eq!(scene.lasts, Duration::from_millis(1500));
    assert_eq!(scene.resources[0].kind, Kind::Pipe { bytes: 8192 });
    let boss = &scene.scripts[0];
    assert_eq!((boss.name.as_str(), boss.count, boss.line), ("boss", 1, 5));
    assert_eq!(boss.lines, [5, 5, 5, 7, 7, 7]);
    assert_eq!(boss.once(), [Step::On(vec![0, 2]), Step::Nice(-5), Step::Policy(Policy::Fifo)]);
    let half = Length { least: Duration::from_micros(500), most: Duration::from_micros(500) };
    let run = Length { least: ms(2).least, most: ms(9).most };
    let send = Step::Send { to: 0, bytes: 100 };
    assert_eq!(boss.again(), [Step::Sleep(half), send, Step::Run(run)]);
    assert_eq!(boss.repeat.and_then(|repeat| repeat.times), Some(7));
    assert_eq!(scene.scripts[1].count, 3);
    assert_eq!(scene.scripts[1].repeat.and_then(|repeat| repeat.times), None);
}

#[test]
fn who_is_begun_by_others_does_not_begin_with_the_scene() {
    let scene = scene("a: thread b\nb: run 1\nc: run 1\nd: fork c");
    let cast: Vec<_> = scene.cast().map(|script| script.name.as_str()).collect();
    assert_eq!(cast, ["a", "d"]);
    assert_eq!(scene.lasts, Duration::from_secs(5));
}

#[test]
fn steps_are_written_in_one_way() {
    let text = "lock m\nevent e\nbarrier b 2\nfile f 1\nsocket s\n\
                a*2: lock m, unlock m, signal e, broadcast e, wait e, meet b, send s, receive s, \
                read f, write f 8, yield 3, busy 4, timer 5, vfork, exit";
    let scene = scene(text);
    assert_eq!(
        scene.scripts[0].steps,
        [
            Step::Lock(0),
            Step::Unlock(0),
            Step::Signal(1),
            Step::Broadcast(1),
            Step::Wait(1),
            Step::Meet(2),
            Step::Send { to: 4, bytes: 1 },
            Step::Receive { from: 4, bytes: 1 },
            Step::Read { file: 3, bytes: 4096 },
            Step::Write { file: 3, bytes: 8192 },
            Step::Yield(Duration::from_millis(3)),
            Step::Busy(ms(4)),
            Step::Timer(Duration::from_millis(5)),
            Step::Vfork,
            Step::Exit,
        ]
    );
    for step in [
        "run",
        "run 0",
        "run -1",
        "run nan",
        "run 1e9",
        "nice 20",
        "nice",
        "on",
        "on x",
        "on 1024",
        "hop",
        "policy high",
        "sleep 5 6",
        "lock",
        "send",
        "done 1",
        "vfork a",
        "yield 1..2",
        "timer 1..2",
        "read f 3",
        "repeat 0",
    ] {
        let sentence = refused(&format!("file f 1\nreader: read f\na: {step}"));
        assert!(sentence.starts_with("line 3: "), "{sentence}");
    }
    assert_eq!(
        refused("a: run x"),
        "line 1: \"run x\" is not a step: x is not a time: 20 or 20ms, 500us, 1.5s; \
         it is written run TIME"
    );
    assert!(refused("a: hop").contains("\"hop\" is not a step; there are on, nice, policy, "));
}

#[test]
fn every_mistake_is_a_sentence_with_its_line() {
    for (text, sentence) in [
        ("", "line 1: nobody does anything: add a line NAME: STEP, STEP, ..."),
        ("lock m\nlasts", "line 2: \"lasts\" is not part of a scene: there can be NAME: STEP"),
        ("run 5", "line 1: \"run 5\" is not part of a scene"),
        ("lasts 5s\nlasts 6s\na: run 1", "line 2: it lasts twice"),
        ("lasts 2h\na: run 1", "line 1: 2h is not a time: 20 or 20ms, 500us, 1.5s"),
        ("lock m\npipe m\na: run 1", "line 2: line 1 has a m already"),
        ("pipe p 100\na: run 1", "line 1: \"100\" is not a number from 4096 to 1048576"),
        ("socket p 1000000\na: run 1", "line 1: \"1000000\" is not a number from 4096 to 212992"),
        ("barrier b 1\na: meet b", "line 1: \"1\" is not a number from 2 to 10000"),
        ("file f 0\na: read f", "line 1: \"0\" is not a number from 1 to 65536"),
        (
            "lock M\na: run 1",
            "line 1: \"M\" is not a name: at most 24 of the letters a to z and digits",
        ),
        ("a b: run 5", "line 1: \"a b\" is not a name"),
        ("a*0: run 5", "line 1: \"0\" is not a number from 1 to 10000"),
        ("a: run 1\nb: run 1\na: run 2", "line 3: line 1 has a script of a already"),
        ("a*3: run 1\na2: run 1", "line 2: a2 is one of the a of line 1"),
        ("a*30: run 1\na2*3: run 1", "line 2: a2 is one of the a of line 1"),
        ("a: run 1,\n\n", "line 1: a step of a is missing"),
        ("a: run 1,, run 2", "line 1: a step of a is missing"),
        ("a: repeat, run 1, repeat", "line 1: a repeats twice"),
        ("a: run 1, repeat", "line 1: there is nothing to repeat"),
        ("a: repeat,\n nice 5", "line 2: a repeats nothing that takes time"),
        ("lock m\na: repeat, lock m, unlock m", "line 2: a repeats nothing that takes time"),
        ("a: thread b", "line 1: a begins b, and there is no script of it"),
        ("a: run 1,\n  thread a", "line 1: a begins itself"),
        ("a: thread b\nb: thread c\nc: thread a", "line 1: a begins itself"),
        (
            "a: repeat, run 1, fork b\nb: run 1",
            "line 1: a would begin b without end: await b in what it repeats",
        ),
        ("a: await b\nb: run 1", "line 1: a waits for b, and has begun none"),
        ("a: fork b, exec\nb: run 1", "line 1: a cannot exec and begin others too"),
        ("a: thread b\nb: exec", "line 2: b is a thread, and cannot exec"),
        (
            "a: thread b, fork c\nb: run 1\nc: run 1",
            "line 1: a cannot fork: its process has threads",
        ),
        ("a: exit,\n run 1", "line 2: a has ended before this step"),
        ("a: lock m", "line 1: \"lock m\" is not a step: there is no lock m: add the line lock m"),
        ("a: meet b", "there is no barrier b: add the line barrier b COUNT"),
        (
            "lock m\na: wait m",
            "line 2: \"wait m\" is not a step: m is a lock; it is written wait EVENT",
        ),
        ("lock m\na: run 1", "line 1: nobody uses the lock m"),
        ("lock m\na: lock m,\n lock m", "line 3: a holds m already"),
        ("lock m\na: unlock m", "line 2: a does not hold m"),
        ("lock m\na: lock m", "line 2: a ends and still holds m"),
        (
            "lock m\na: repeat, run 1, lock m",
            "line 2: a still holds m when it begins again: unlock it before",
        ),
        (
            "lock m\na: lock m, repeat, run 1, unlock m",
            "line 2: a unlocks again and again what it locks once",
        ),
        ("event e\na: wait e", "line 2: a waits for e, and nobody else signals it"),
        ("event e\na: wait e, signal e", "line 2: a waits for e, and nobody else signals it"),
        ("pipe p\na: receive p", "line 2: a waits for p, and nobody else sends into it"),
        ("pipe p\na: send p", "line 2: a sends into p, and nobody else receives from it"),
        ("barrier b 3\na*2: meet b", "line 1: b waits for 3 actors, and 2 come"),
    ] {
        let found = refused(text);
        assert!(found.contains(sentence), "{text:?}: {found}");
        assert!(!found.contains('\n'), "{found}");
    }
    let many: String = (0..65).map(|index| format!("lock m{index}\n")).collect();
    assert!(refused(&many).starts_with("line 65: there are more than 64 "));
}

#[test]
fn metrics_follow_the_steps() {
    let names = |text: &str| -> Vec<String> {
        metrics(&scene(text)).into_iter().map(|metric| metric.name).collect()
    };
    assert_eq!(names("a: busy 1\nb: yield 1, vfork"), [""; 0]);
    assert_eq!(names("a: sleep 1"), ["a_wake_p99_us"]);
    assert_eq!(
        names("lock m\na: repeat, timer 1, lock m, run 1, unlock m, done"),
        ["a_wake_p99_us", "a_missed_pct", "a_wait_p99_us", "a_run_ms", "a_done_per_s"]
    );
    assert_eq!(names("a: fork b, await b\nb: run 1"), ["a_wait_p99_us", "b_run_ms"]);
}

/// Texts that are nearly scenes.
fn texts() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "a", "b", "*2", "*", ":", ",", "\n", " ", "#", "..", "run ", "1", "20ms", "lock ", "m",
        "pipe ", "p", "send ", "receive ", "repeat", "exit", "fork ", "thread ", "await ",
        "lasts ", "barrier ", "event ", "wait ", "é", "\0",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_text_is_a_scene_or_a_sentence(text in prop_oneof![texts(), any::<String>()]) {
        if let Err(mistake) = text.parse::<Scene>() {
            prop_assert!((1..=text.lines().count().max(1)).contains(&mistake.line), "{mistake}");
        }
    }
}
