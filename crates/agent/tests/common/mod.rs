// SPDX-License-Identifier: GPL-2.0-only
//! Sessions of the program itself on this machine, as root.
#![allow(dead_code, reason = "not every file of tests needs all of it")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

pub const AGENT: &str = env!("CARGO_BIN_EXE_runoff-agent");

/// Longest wait for an answer, on a busy machine.
const ANSWER: Duration = Duration::from_secs(600);

/// A limit that is shorter than any time-out of a request, for events that must come soon.
pub const SOON: Duration = Duration::from_secs(25);

/// A session begins by removing what killed agents have left, so a test of that runs alone.
static TURN: RwLock<()> = RwLock::new(());

pub enum Turn {
    Shared { _guard: RwLockReadGuard<'static, ()> },
    Alone { _guard: RwLockWriteGuard<'static, ()> },
}

impl Turn {
    pub fn shared() -> Self {
        Self::Shared { _guard: TURN.read().unwrap_or_else(PoisonError::into_inner) }
    }

    pub fn alone() -> Self {
        Self::Alone { _guard: TURN.write().unwrap_or_else(PoisonError::into_inner) }
    }
}

pub struct Session {
    _turn: Turn,
    pub agent: Child,
    pub requests: Option<ChildStdin>,
    events: Receiver<Value>,
}

impl Session {
    /// Starts a session; None without root.
    pub fn start() -> Option<Self> {
        Self::of(Command::new(AGENT).arg("session"), Turn::shared())
    }

    pub fn of(command: &mut Command, turn: Turn) -> Option<Self> {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("this needs root and was not tried");
            return None;
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut agent = command.spawn().unwrap();
        let output = BufReader::new(agent.stdout.take().unwrap());
        let (tell, events) = channel();
        std::thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines
                .map(|line| serde_json::from_str(&line).unwrap())
                .try_for_each(|event| tell.send(event))
        });
        let session = Self { _turn: turn, requests: agent.stdin.take(), agent, events };
        assert_eq!(session.event()["type"], "hello");
        Some(session)
    }

    pub fn ask(&mut self, request: &Value) {
        writeln!(self.requests.as_mut().unwrap(), "{request}").unwrap();
    }

    pub fn event(&self) -> Value {
        self.events.recv_timeout(ANSWER).unwrap()
    }

    /// The next event of this type.
    pub fn next(&self, kind: &str) -> Value {
        loop {
            let event = self.event();
            if event["type"] == kind {
                return event;
            }
            assert!(event["type"] == "progress" || event["type"] == "log", "{event}");
        }
    }

    pub fn reason(&mut self, request: &Value) -> String {
        self.ask(request);
        self.next("void")["reason"].as_str().unwrap().to_owned()
    }

    /// Sends `signal`; the session ends and leaves nothing.
    pub fn ends_soon(mut self, signal: Signal) {
        let pid = self.agent.id();
        let start = Instant::now();
        kill(Pid::from_raw(pid.cast_signed()), signal).unwrap();
        let status = self.agent.wait().unwrap();
        assert!(start.elapsed() < SOON, "{signal}: {:?}", start.elapsed());
        assert!(status.success(), "{signal}: {status}");
        assert_eq!(left_of(pid), Vec::<String>::new());
    }

    pub fn end(mut self) {
        let pid = self.agent.id();
        self.ask(&json!({"type": "bye"}));
        assert_eq!(self.next("bye"), json!({"type": "bye"}));
        assert!(self.agent.wait().unwrap().success());
        assert_eq!(left_of(pid), Vec::<String>::new());
    }
}

/// Directories and cgroups with the name of agent `pid`.
pub fn left_of(pid: u32) -> Vec<String> {
    let places = ["/tmp", "/run", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
    let entries = places.iter().flat_map(std::fs::read_dir).flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&format!("runoff-{pid}."))).collect()
}

pub fn sample(script: &str, prepare: &[&str], more: &Value) -> Value {
    let sh = |script: &str| json!(["sh", "-c", script]);
    let mut request = json!({
        "type": "sample", "id": "1", "scheduler": {"kind": "default"},
        "workload": {
            "name": "sh", "root": null, "command": sh(script), "environment": {}, "timeout_s": 600.0, "extract": [],
            "prepare": prepare.iter().map(|script| sh(script)).collect::<Vec<_>>(),
        },
    });
    for (key, value) in more.as_object().unwrap() {
        let target = if ["extract", "timeout_s", "root", "server"].contains(&key.as_str()) {
            &mut request["workload"]
        } else {
            &mut request
        };
        target[key] = value.clone();
    }
    request
}

pub fn plain(script: &str) -> Value {
    sample(script, &[], &json!({}))
}

pub fn cgroups() -> &'static str {
    const BESIDE_V1: &str = "/sys/fs/cgroup/unified";
    if Path::new(BESIDE_V1).exists() { BESIDE_V1 } else { "/sys/fs/cgroup" }
}

/// Whether a process with this command line is there.
pub fn runs(words: &str) -> bool {
    let all = procfs::process::all_processes().unwrap();
    let lines = all.filter_map(|process| process.ok()?.cmdline().ok());
    lines.map(|line| line.join(" ")).any(|line| line == words)
}

/// A request with a load in the background.
pub fn beside(load: &str, script: &str) -> Value {
    let command = json!(["sh", "-c", load]);
    let work = json!({
        "name": "busy", "root": null, "command": command, "environment": {}, "timeout_s": 600.0, "extract": [],
        "prepare": [],
    });
    sample(script, &[], &json!({"load": {"work": work, "ready": "ready"}}))
}

/// A request whose workload has a server.
pub fn served(server: &str, ready: &str, script: &str, more: &Value) -> Value {
    let sh = |script: &str| json!(["sh", "-c", script]);
    let mut more = more.clone();
    more["server"] = json!({"command": sh(server), "ready": sh(ready)});
    sample(script, &[], &more)
}
