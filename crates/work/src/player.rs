// SPDX-License-Identifier: GPL-2.0-only
//! Plays a scene (docs/scenes.md): actors that run, sleep, yield and wait for each other by a
//! script, and the times that each saw.

mod actor;
mod bell;
mod channel;
mod company;
mod disk;
mod luggage;
mod meetings;
mod notes;
mod position;
mod program;
mod stage;
mod timeline;
mod times;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use machine::clock::now;
use machine::output;
use scene::{STEPS, Scene, Script};
use serde::Serialize;

use crate::process::Answer;
use crate::start;
use crate::usage::Usage;
use actor::Actor;
use notes::{ActorFigures, AllNotes};
use position::Position;
use stage::{Stage, Time};

#[derive(Debug, Args)]
#[command(after_help = steps())]
pub struct Play {
    /// Append a line of JSON to this file: for each listed actor when it was on which CPU, and how long it waited
    /// after each sleep, in ms
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,
    /// Print the metrics that it will have, and play nothing
    #[arg(long)]
    check: bool,
    #[arg(long = "after-exec", hide = true, value_name = "FD")]
    after_exec: Option<RawFd>,
    /// Lines of a scene: who does what, `NAME: STEP, STEP, ...`, and what they share, such as `lock NAME`
    #[arg(required_unless_present = "after_exec", value_name = "LINE")]
    lines: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Figures {
    elapsed_s: f64,
    metrics: BTreeMap<String, f64>,
    actors: BTreeMap<String, ActorFigures>,
}

/// One process of a script.
struct Part<'a> {
    script: &'a Script,
    place: usize,
    copy: usize,
}

impl Play {
    /// Plays it to its end, and prints what was measured.
    ///
    /// # Errors
    /// The text is not a scene, a process cannot be started, or a step cannot be done here.
    pub fn run(&self) -> Result<ExitCode> {
        if let Some(file) = self.after_exec {
            // SAFETY: the option is given by this program only.
            return unsafe { program::go_on(file) };
        }
        let text = self.lines.join("\n");
        let scene: Scene = text.parse().map_err(|mistake| Usage(format!("{mistake}")))?;
        if self.check {
            output::json(&scene::metrics(&scene))?;
        } else {
            output::json(&self.play(scene, text)?)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Each actor is a process, except those that another begins as its threads.
    fn play(&self, scene: Scene, text: String) -> Result<Figures> {
        let timeline = self.timeline.as_deref().map(open_to_append).transpose()?;
        bell::arm()?;
        let stage = Arc::new(Stage::set(scene, text, timeline.is_some())?);
        let played = play_on(&stage);
        stage.strike();
        let (mut all, elapsed) = played?;
        if let Some(mut file) = timeline {
            let lines = all.iter_mut().map(|(name, notes)| (name, notes.timeline.take()));
            let lines: BTreeMap<_, _> = lines.filter(|(_, line)| line.is_some()).collect();
            let line = serde_json::json!({ "timeline": lines });
            writeln!(file, "{line}").context("cannot write the timeline")?;
        }
        let metrics = notes::metrics(&stage.scene, &all, elapsed);
        let reported = all.iter().filter(|(_, notes)| notes.is_reported);
        let actors = reported.map(|(name, notes)| (name.clone(), notes.figures())).collect();
        Ok(Figures { elapsed_s: elapsed.as_secs_f64(), metrics, actors })
    }
}

fn play_on(stage: &Arc<Stage>) -> Result<(AllNotes, Duration)> {
    let parts: Vec<_> =
        stage.scene.cast().flat_map(|script| parts_of(&stage.scene, script)).collect();
    let (gate, mut signal) = pipe()?;
    let start_one = |index: usize| {
        let mut gate = gate.try_clone()?;
        Answer::by(|answer| follow(stage, &parts[index], index, &mut gate, answer))
    };
    let all = start::all("process", parts.len(), start_one, Answer::kill)?;
    // All actors are there, and begin at the same time.
    let begin = now() + Duration::from_millis(20);
    for _ in &all {
        signal.write_all(&begin.as_nanos().to_ne_bytes())?;
    }
    let mut notes = AllNotes::new();
    for answer in all {
        notes::merge(&mut notes, answer.wait()?);
    }
    Ok((notes, now() - begin))
}

fn follow(
    stage: &Arc<Stage>,
    part: &Part,
    index: usize,
    gate: &mut PipeReader,
    answer: &PipeWriter,
) -> Result<AllNotes> {
    let mut at = [0; size_of::<u128>()];
    gate.read_exact(&mut at)?;
    let begin = Duration::from_nanos(u64::try_from(u128::from_ne_bytes(at))?);
    std::thread::sleep(begin.saturating_sub(now()));
    let time = Time { begin, end: begin + stage.scene.lasts };
    let seed = u64::try_from(index)?;
    let position = Position::start(part.script, part.place, part.copy, seed, begin);
    Actor::first(Arc::clone(stage), time, position, Some(answer)).follow()
}

fn parts_of<'a>(scene: &Scene, script: &'a Script) -> impl Iterator<Item = Part<'a>> {
    let place = scene.find(&script.name).map_or(0, |(place, _)| place);
    (0..script.count).map(move |copy| Part { script, place, copy })
}

/// The steps, one in each line.
fn steps() -> String {
    let line = |(step, about): &(&str, &str)| format!("  {step:<23}{about}\n");
    format!(
        "Steps (TIME is 20 or 20ms, 500us, 1.5s):\n{}",
        STEPS.iter().map(line).collect::<String>()
    )
}

fn open_to_append(path: &Path) -> Result<File> {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.with_context(|| format!("cannot open {}", path.display()))
}
