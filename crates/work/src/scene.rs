// SPDX-License-Identifier: GPL-2.0-only
//! Threads that run, sleep, yield, bind themselves and change their policy by a script, and the
//! times that each saw: one line for each situation in which schedulers differ.

mod actor;
mod script;
mod timeline;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{PipeReader, Read, Write, pipe};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::Serialize;

use crate::process::Answer;
use crate::start;
use crate::usage::{Usage, length};
use actor::{AllNotes, perform};
use machine::clock::now;
use script::{Script, Step};
use timeline::Recorder;

/// Most actors of one script that are reported; more would be too much to read.
const MOST_TOLD: usize = 16;

#[derive(Debug, Args)]
pub struct Scene {
    /// How long it lasts
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = length)]
    seconds: Duration,
    /// Append a line of JSON to this file: for each listed actor when it was on which CPU, and how long it waited
    /// after each sleep, in ms
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Who does what: `NAME: STEP, STEP, ...`, or `NAME*COUNT: ...` for several. Steps are `on CPU...`,
    /// `nice N`, `policy normal|batch|idle|fifo`, `sleep MS`, `run MS` (of CPU time), `busy MS`, `yield MS`,
    /// `thread NAME`, `vfork`, and `repeat`: what follows is done again and again
    #[arg(required = true)]
    scripts: Vec<Script>,
}

#[derive(Debug, Serialize)]
pub struct Figures {
    pub elapsed_s: f64,
    pub actors: AllNotes,
}

impl Scene {
    /// Plays it to its end. Each actor is a process, except those that another begins as its
    /// threads.
    ///
    /// # Errors
    /// A process cannot be started, or a step cannot be done here.
    pub fn run(&self) -> Result<Figures> {
        self.require_names()?;
        let timeline = self.timeline.as_deref().map(open_to_append).transpose()?;
        let cast = self.scripts.iter().filter(|one| !self.begun_by_another(one));
        let parts: Vec<_> = cast.flat_map(parts_of).collect();
        let (gate, mut signal) = pipe()?;
        let start_one = |index: usize| {
            let mut gate = gate.try_clone()?;
            Answer::of(|| self.play(&parts[index], &mut gate))
        };
        let all = start::all("process", parts.len(), start_one, Answer::kill)?;
        // All actors are there, and begin at the same time.
        let begin = now() + Duration::from_millis(20);
        for _ in &all {
            signal.write_all(&begin.as_nanos().to_ne_bytes())?;
        }
        let mut actors = AllNotes::new();
        for (part, answer) in parts.iter().zip(all) {
            let notes = answer.wait::<AllNotes>()?;
            if part.is_told {
                actors.extend(notes);
            }
        }
        let elapsed_s = (now() - begin).as_secs_f64();
        if let Some(mut file) = timeline {
            let lines = actors.iter_mut().map(|(name, notes)| (name, notes.timeline.take()));
            let line = serde_json::json!({ "timeline": lines.collect::<BTreeMap<_, _>>() });
            writeln!(file, "{line}").context("cannot write the timeline")?;
        }
        Ok(Figures { elapsed_s, actors })
    }

    fn play(&self, part: &Part, gate: &mut PipeReader) -> Result<AllNotes> {
        let mut at = [0; size_of::<u128>()];
        gate.read_exact(&mut at)?;
        let begin = Duration::from_nanos(u64::try_from(u128::from_ne_bytes(at))?);
        std::thread::sleep(begin.saturating_sub(now()));
        let end = begin + self.seconds;
        let recorder = (self.timeline.is_some() && part.is_told).then(|| Recorder::new(begin));
        perform(part.name.clone(), part.script, &self.scripts, begin, end, recorder)
    }

    fn require_names(&self) -> Result<()> {
        for script in &self.scripts {
            let same = self.scripts.iter().filter(|other| other.name == script.name).count();
            ensure!(same == 1, Usage(format!("{} has {same} scripts", script.name)));
            for step in &script.steps {
                let Step::Thread(name) = step else { continue };
                if !self.scripts.iter().any(|other| other.name == *name) {
                    bail!(Usage(format!("{} begins {name}, who has no script", script.name)));
                }
                if *name == script.name {
                    bail!(Usage(format!("{name} begins itself")));
                }
            }
        }
        Ok(())
    }

    fn begun_by_another(&self, script: &Script) -> bool {
        let begins = |step: &Step| *step == Step::Thread(script.name.clone());
        self.scripts.iter().flat_map(|other| &other.steps).any(begins)
    }
}

fn open_to_append(path: &Path) -> Result<File> {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.with_context(|| format!("cannot open {}", path.display()))
}

/// One process of a script.
struct Part<'a> {
    name: String,
    script: &'a Script,
    /// Whether it is reported: only the first of hundreds that do the same are.
    is_told: bool,
}

fn parts_of(script: &Script) -> impl Iterator<Item = Part<'_>> {
    (0..script.count).map(move |index| {
        let name = match script.count {
            1 => script.name.clone(),
            _ => format!("{}{index}", script.name),
        };
        Part { name, script, is_told: index < MOST_TOLD }
    })
}

#[cfg(test)]
mod tests {
    use std::fs::read_to_string;

    use tempfile::NamedTempFile;

    use super::*;

    /// A scene long enough for `scripts` that end by themselves, however busy the machine is.
    fn scene(scripts: &[&str]) -> Scene {
        let scripts = scripts.iter().map(|text| text.parse().unwrap()).collect();
        Scene { seconds: Duration::from_mins(5), timeline: None, scripts }
    }

    #[test]
    fn every_actor_does_what_the_script_says() {
        let played = scene(&[
            "hog: nice 5, busy 50",
            "nap*2: policy batch, sleep 20, run 1, sleep 20",
            "parent: run 2, thread child, sleep 10, vfork, yield 5",
            "child: run 3",
        ]);
        let actors = played.run().unwrap().actors;
        let names: Vec<_> = actors.keys().map(String::as_str).collect();
        assert_eq!(names, ["child", "hog", "nap0", "nap1", "parent"]);
        assert!(actors["hog"].cpu_s > 0.0);
        assert_eq!((actors["nap0"].wakes, actors["nap1"].runs), (2, 1));
        assert!((0.003..0.1).contains(&actors["child"].cpu_s), "{actors:?}");
        assert!(actors["child"].run_mean_ms >= 3.0);
        assert_eq!((actors["parent"].wakes, actors["parent"].runs), (1, 1));
    }

    #[test]
    fn the_timeline_has_every_actor_and_is_not_printed() {
        let file = NamedTempFile::new().unwrap();
        let nap = "nap: sleep 20, run 2, sleep 20, run 2, sleep 20";
        let mut played = scene(&[nap, "a: thread b", "b: run 3"]);
        played.timeline = Some(file.path().into());
        let figures = played.run().unwrap();
        assert!(!serde_json::to_string(&figures).unwrap().contains("timeline"));
        let line: serde_json::Value =
            serde_json::from_str(&read_to_string(file.path()).unwrap()).unwrap();
        let actors = &line["timeline"];
        assert_eq!(actors["nap"]["waits"].as_array().unwrap().len(), 3, "{line}");
        let ran = |name: &str| {
            let runs = actors[name]["runs"].as_array().unwrap();
            runs.iter().map(|run| run[1].as_f64().unwrap() - run[0].as_f64().unwrap()).sum::<f64>()
        };
        assert!(ran("b") > 1.5 && ran("nap") > 1.5, "{line}");
    }

    #[test]
    fn repeated_steps_last_to_the_end() {
        let seconds = Duration::from_millis(300);
        let played = Scene { seconds, ..scene(&["nap: repeat, sleep 1"]) };
        assert!(played.run().unwrap().elapsed_s >= seconds.as_secs_f64());
    }

    #[test]
    fn scripts_that_do_not_fit_together_are_refused() {
        let refused = |scripts| scene(scripts).run().unwrap_err().to_string();
        assert_eq!(refused(&["a: run 1", "a: run 2"]), "a has 2 scripts");
        assert_eq!(refused(&["a: thread b"]), "a begins b, who has no script");
        assert_eq!(refused(&["a: thread a", "b: run 1"]), "a begins itself");
    }

    #[test]
    fn a_step_that_cannot_be_done_is_named() {
        let error = scene(&["a: on 1023, run 1"]).run().unwrap_err().to_string();
        assert!(error.contains("cannot use only the CPUs [1023]"), "{error}");
    }
}
