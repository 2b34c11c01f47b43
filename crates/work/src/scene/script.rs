// SPDX-License-Identifier: GPL-2.0-only
//! The script of an actor of a scene, as words of a command line.

use std::str::FromStr;
use std::time::Duration;

use machine::sched::Policy;

/// Most actors of one script: no kernel of a lab has room for more.
const MOST_OF_A_KIND: usize = 10_000;
/// An hour.
const LONGEST_MS: u64 = 3_600_000;

/// `NAME: STEP, STEP, ...`, or `NAME*COUNT: ...` for several that do the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub name: String,
    pub count: usize,
    pub steps: Vec<Step>,
    /// Index of the first step that is repeated; the number of steps if none is.
    pub repeat_from: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `on 0 2`: use these CPUs only.
    On(Vec<usize>),
    /// `nice 5`
    Nice(i8),
    /// `policy idle`
    Policy(Policy),
    /// `sleep 20`: milliseconds; how late it wakes is noted.
    Sleep(Duration),
    /// `run 20`: use 20 ms of CPU time; how long that took is noted.
    Run(Duration),
    /// `busy 20`: use the CPU for 20 ms, whatever it gets of it.
    Busy(Duration),
    /// `yield 20`: give the CPU away again and again for 20 ms.
    Yield(Duration),
    /// `thread child`: begin the script of that name in a thread.
    Thread(String),
    /// `vfork`: wait until a program has been started, not until it has ended.
    Vfork,
}

impl FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (who, what) = text.split_once(':').ok_or("it must be NAME: STEP, STEP, ...")?;
        let (name, count) = match who.split_once('*') {
            Some((name, count)) => (name, count.trim().parse().unwrap_or(0)),
            None => (who, 1),
        };
        let name = name.trim();
        if name.is_empty() || !name.chars().all(char::is_alphanumeric) {
            return Err(format!("{name:?} is not a name: letters and digits"));
        }
        if !(1..=MOST_OF_A_KIND).contains(&count) {
            return Err(format!("there can be 1 to {MOST_OF_A_KIND} of {name}"));
        }
        let mut steps = Vec::new();
        let mut repeat_from = None;
        for words in what.split(',').map(str::trim) {
            if words == "repeat" {
                repeat_from = Some(steps.len());
            } else {
                steps.push(step(words)?);
            }
        }
        let repeat_from = repeat_from.unwrap_or(steps.len());
        if steps[repeat_from..].iter().any(|step| matches!(step, Step::Thread(_))) {
            return Err(format!("{name} would begin threads without end"));
        }
        let waits = |step: &Step| !matches!(step, Step::On(_) | Step::Nice(_) | Step::Policy(_));
        if repeat_from < steps.len() && !steps[repeat_from..].iter().any(waits) {
            return Err(format!("{name} repeats nothing that takes time"));
        }
        Ok(Self { name: name.into(), count, steps, repeat_from })
    }
}

fn step(words: &str) -> Result<Step, String> {
    let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
    let unknown = || format!("{words:?} is not a step");
    Ok(match verb {
        "on" => {
            let cpus: Result<Vec<usize>, _> = rest.split_whitespace().map(str::parse).collect();
            Step::On(cpus.ok().filter(|cpus| !cpus.is_empty()).ok_or_else(unknown)?)
        }
        "nice" => {
            let nice = rest.parse().ok().filter(|nice| (-20..=19).contains(nice));
            Step::Nice(nice.ok_or_else(unknown)?)
        }
        "policy" => Step::Policy(policy(rest).ok_or_else(unknown)?),
        "sleep" => Step::Sleep(length(rest).ok_or_else(unknown)?),
        "run" => Step::Run(length(rest).ok_or_else(unknown)?),
        "busy" => Step::Busy(length(rest).ok_or_else(unknown)?),
        "yield" => Step::Yield(length(rest).ok_or_else(unknown)?),
        "thread" => Step::Thread(rest.trim().into()),
        "vfork" if rest.is_empty() => Step::Vfork,
        _ => return Err(unknown()),
    })
}

fn policy(word: &str) -> Option<Policy> {
    Some(match word {
        "normal" => Policy::Normal,
        "batch" => Policy::Batch,
        "idle" => Policy::Idle,
        "fifo" => Policy::Fifo { priority: 1, reset_on_fork: true },
        _ => return None,
    })
}

fn length(ms: &str) -> Option<Duration> {
    let ms: f64 = ms.parse().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "an hour in milliseconds is exact")]
    let fits = ms > 0.0 && ms <= LONGEST_MS as f64;
    fits.then(|| Duration::from_secs_f64(ms / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<Script>().unwrap_err()
    }

    #[test]
    fn a_script_is_a_name_and_steps() {
        let script: Script = "nap*3: on 0 2, nice -5, repeat, sleep 0.5, run 7".parse().unwrap();
        assert_eq!((script.name.as_str(), script.count, script.repeat_from), ("nap", 3, 2));
        assert_eq!(
            script.steps,
            [
                Step::On(vec![0, 2]),
                Step::Nice(-5),
                Step::Sleep(Duration::from_micros(500)),
                Step::Run(Duration::from_millis(7)),
            ]
        );
        let once: Script = "a: thread b, vfork, policy idle".parse().unwrap();
        assert_eq!((once.count, once.repeat_from), (1, 3));
    }

    #[test]
    fn text_that_is_not_a_script_is_refused() {
        assert!(refused("run 5").contains("NAME: STEP"));
        assert!(refused("a b: run 5").contains("not a name"));
        assert!(refused("a*0: run 5").contains("1 to 10000"));
        assert!(refused("a: repeat, thread b").contains("without end"));
        assert!(refused("a: repeat, nice 5").contains("takes time"));
        for step in ["run", "run 0", "run -1", "run nan", "run 1e9", "nice 20", "on", "on x", "hop"]
        {
            assert!(refused(&format!("a: {step}")).contains("is not a step"), "{step}");
        }
    }
}
