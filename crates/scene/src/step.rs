// SPDX-License-Identifier: GPL-2.0-only
//! What an actor does, step by step.

use std::time::Duration;

use crate::length::{Length, parse_count, parse_time};
use crate::resource::Resource;

/// The largest message in bytes, and the largest request of a disk in KiB: as large as the smallest
/// file.
const LARGEST_MESSAGE: usize = 1 << 20;
const LARGEST_REQUEST_KIB: usize = 1024;
const KIBIBYTE: usize = 1024;

/// Resources are named by their place in the scene, scripts by their name.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    On(Vec<usize>),
    Nice(i8),
    Policy(Policy),
    Sleep(Length),
    Timer(Duration),
    Run(Length),
    Busy(Length),
    Yield(Duration),
    Send { to: usize, bytes: usize },
    Receive { from: usize, bytes: usize },
    Lock(usize),
    Unlock(usize),
    Wait(usize),
    Signal(usize),
    Broadcast(usize),
    Meet(usize),
    Read { file: usize, bytes: usize },
    Write { file: usize, bytes: usize },
    Thread(String),
    Fork(String),
    Await(String),
    Vfork,
    Exec,
    Exit,
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Normal,
    Batch,
    Idle,
    Fifo,
}

/// How each step is written, and what it does.
pub const STEPS: &[(&str, &str)] = &[
    ("on CPU...", "use these CPUs only, as in on 0 2"),
    ("nice N", "-20 to 19"),
    ("policy WORD", "normal, batch, idle or fifo"),
    ("sleep TIME", "how late it wakes is noted"),
    ("timer TIME", "sleep until the next period of this length; how late it wakes is noted"),
    ("run TIME", "use that much CPU time; how long it took is noted"),
    ("busy TIME", "use the CPU for that long, whatever it gets of it"),
    ("yield TIME", "give the CPU away again and again for that long"),
    ("send PIPE [BYTES]", "into a pipe or socket; waits while it is full"),
    ("receive PIPE [BYTES]", "from a pipe or socket; waits for all of them"),
    ("lock LOCK", "waits until it is free"),
    ("unlock LOCK", "lets the next one have it"),
    ("wait EVENT", "until it is signalled"),
    ("signal EVENT", "lets one go on"),
    ("broadcast EVENT", "lets all go on that wait now"),
    ("meet BARRIER", "waits until enough are there"),
    ("read FILE [KIB]", "at a random place, from the disk"),
    ("write FILE [KIB]", "at a random place, to the disk"),
    ("thread NAME", "begin the script of that name in threads"),
    ("fork NAME", "begin the script of that name in processes"),
    ("await NAME", "wait until those that were begun have ended"),
    ("vfork", "wait until a program has been started, not until it has ended"),
    ("exec", "go on in a new program"),
    ("exit", "end"),
    ("done", "count one"),
    ("repeat [N]", "do what follows N times, or again and again"),
];

impl Step {
    /// Parses the words of a step.
    pub fn parse(words: &str, resources: &[Resource]) -> Result<Self, String> {
        let mut split = words.split_whitespace();
        let verb = split.next().unwrap_or_default();
        let rest: Vec<_> = split.collect();
        let length = || Length::parse(one(&rest)?);
        let time = || parse_time(one(&rest)?);
        let find = |kinds: &[&str]| find(one(&rest[..1.min(rest.len())])?, kinds, resources);
        let only = |kind: &str| match rest.len() {
            1 => find(&[kind]),
            _ => Err("there must be one name".to_owned()),
        };
        let size = |most| match rest[..] {
            [_] => Ok(None),
            [_, text] => parse_count(text, 1..=most).map(Some),
            _ => Err("there must be a name, and may be a number".to_owned()),
        };
        let message = || Ok::<_, String>(size(LARGEST_MESSAGE)?.unwrap_or(1));
        let request = || request(size(LARGEST_REQUEST_KIB)?.unwrap_or(4));
        let channel = || find(&["pipe", "socket"]);
        let alone =
            |step| if rest.is_empty() { Ok(step) } else { Err("it stands alone".to_owned()) };
        let parsed = match verb {
            "on" => on(&rest).map(Self::On),
            "nice" => one(&rest).and_then(nice).map(Self::Nice),
            "policy" => one(&rest).and_then(policy).map(Self::Policy),
            "sleep" => length().map(Self::Sleep),
            "timer" => time().map(Self::Timer),
            "run" => length().map(Self::Run),
            "busy" => length().map(Self::Busy),
            "yield" => time().map(Self::Yield),
            "send" => channel().and_then(|to| Ok(Self::Send { to, bytes: message()? })),
            "receive" => channel().and_then(|from| Ok(Self::Receive { from, bytes: message()? })),
            "lock" => only("lock").map(Self::Lock),
            "unlock" => only("lock").map(Self::Unlock),
            "wait" => only("event").map(Self::Wait),
            "signal" => only("event").map(Self::Signal),
            "broadcast" => only("event").map(Self::Broadcast),
            "meet" => only("barrier").map(Self::Meet),
            "read" => find(&["file"]).and_then(|file| Ok(Self::Read { file, bytes: request()? })),
            "write" => find(&["file"]).and_then(|file| Ok(Self::Write { file, bytes: request()? })),
            "thread" => one(&rest).map(|name| Self::Thread(name.to_owned())),
            "fork" => one(&rest).map(|name| Self::Fork(name.to_owned())),
            "await" => one(&rest).map(|name| Self::Await(name.to_owned())),
            "vfork" => alone(Self::Vfork),
            "exec" => alone(Self::Exec),
            "exit" => alone(Self::Exit),
            "done" => alone(Self::Done),
            _ => return Err(unknown(words)),
        };
        parsed
            .map_err(|why| format!("{words:?} is not a step: {why}; it is written {}", usage(verb)))
    }

    /// The name that it begins.
    pub fn begun(&self) -> Option<&str> {
        match self {
            Self::Thread(name) | Self::Fork(name) => Some(name),
            _ => None,
        }
    }

    /// The resource that it is about.
    pub fn resource(&self) -> Option<usize> {
        match *self {
            Self::Send { to: it, .. }
            | Self::Receive { from: it, .. }
            | Self::Lock(it)
            | Self::Unlock(it)
            | Self::Wait(it)
            | Self::Signal(it)
            | Self::Broadcast(it)
            | Self::Meet(it)
            | Self::Read { file: it, .. }
            | Self::Write { file: it, .. } => Some(it),
            _ => None,
        }
    }

    /// Whether it takes time, so that doing it again and again comes to an end.
    pub fn takes_time(&self) -> bool {
        !matches!(
            self,
            Self::On(_)
                | Self::Nice(_)
                | Self::Policy(_)
                | Self::Send { .. }
                | Self::Lock(_)
                | Self::Unlock(_)
                | Self::Signal(_)
                | Self::Broadcast(_)
                | Self::Thread(_)
                | Self::Fork(_)
                | Self::Done
        )
    }

    /// Whether it waits for what another actor does, which may never come.
    pub fn may_wait_for_ever(&self) -> bool {
        matches!(
            self,
            Self::Send { .. }
                | Self::Receive { .. }
                | Self::Lock(_)
                | Self::Wait(_)
                | Self::Meet(_)
        )
    }

    /// Whether it waits for another actor, or for a disk.
    pub fn waits_for_others(&self) -> bool {
        self.may_wait_for_ever()
            || matches!(self, Self::Read { .. } | Self::Write { .. } | Self::Await(_))
    }
}

fn unknown(words: &str) -> String {
    let verbs: Vec<_> = STEPS.iter().filter_map(|(usage, _)| usage.split(' ').next()).collect();
    format!("{words:?} is not a step; there are {}", verbs.join(", "))
}

fn usage(verb: &str) -> &'static str {
    let of = |usage: &&(&'static str, &str)| usage.0.split(' ').next() == Some(verb);
    STEPS.iter().find(of).map_or("", |(usage, _)| usage)
}

fn one<'a>(words: &[&'a str]) -> Result<&'a str, String> {
    match words {
        [word] => Ok(word),
        [] => Err("something is missing".to_owned()),
        _ => Err("there is too much".to_owned()),
    }
}

fn on(words: &[&str]) -> Result<Vec<usize>, String> {
    if words.is_empty() {
        return Err("a CPU is missing".to_owned());
    }
    words.iter().map(|word| parse_count(word, 0..=1023)).collect()
}

fn nice(text: &str) -> Result<i8, String> {
    let nice = text.parse().ok().filter(|nice| (-20..=19).contains(nice));
    nice.ok_or_else(|| format!("{text:?} is not a number from -20 to 19"))
}

fn policy(word: &str) -> Result<Policy, String> {
    Ok(match word {
        "normal" => Policy::Normal,
        "batch" => Policy::Batch,
        "idle" => Policy::Idle,
        "fifo" => Policy::Fifo,
        _ => return Err(format!("{word:?} is not normal, batch, idle or fifo")),
    })
}

/// Bytes of a request, which direct I/O takes by 4 KiB.
fn request(kib: usize) -> Result<usize, String> {
    match kib.is_multiple_of(4) {
        true => Ok(kib * KIBIBYTE),
        false => Err("a request has 4 KiB, or twice, three times, ... as much".to_owned()),
    }
}

fn find(name: &str, kinds: &[&str], resources: &[Resource]) -> Result<usize, String> {
    let Some((index, found)) = resources.iter().enumerate().find(|(_, one)| one.name == name)
    else {
        return Err(format!(
            "there is no {} {name}: add the line {}",
            kinds.join(" or "),
            declared(kinds[0], name)
        ));
    };
    match kinds.contains(&found.kind.to_string().as_str()) {
        true => Ok(index),
        false => Err(format!("{name} is a {}", found.kind)),
    }
}

fn declared(kind: &str, name: &str) -> String {
    let more = match kind {
        "barrier" => " COUNT",
        "file" => " MIB",
        _ => "",
    };
    format!("{kind} {name}{more}")
}
