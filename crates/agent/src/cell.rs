// SPDX-License-Identifier: GPL-2.0-only
//! One sample: prepare, attach, prove, run, prove again, detach, judge.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;

use crate::background::Background;
use crate::cgroup::Cgroup;
use crate::child::{self, Ending, Outcome, Surroundings};
use crate::disk::{Metrics, SampleDisk};
use crate::flush;
use crate::measure::{Machine, Migrations};
use crate::probe::{ProbeError, Probes};
use crate::proof::Witness;
use crate::protocol::{Cell, Event, Extract, Load, Phase, Probe, Proof, Sample, Void, Workload};
use crate::scheduler;
use crate::scratch::Scratch;
use crate::stop::Stop;

/// Why a sample does not count.
struct Refusal {
    reason: String,
    detail: String,
    proof: Option<Box<Proof>>,
}

impl Refusal {
    fn new(reason: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { reason: reason.into(), detail: detail.into(), proof: None }
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        Self::new(format!("{error:#}"), "")
    }
}

impl From<ProbeError> for Refusal {
    fn from(error: ProbeError) -> Self {
        Self::new(error.to_string(), error.detail())
    }
}

/// Takes one sample; whatever goes wrong makes it void with the reason. `tell` gets the events before that.
pub fn take(cell: &Cell, stop: &Stop, tell: &mut dyn FnMut(Event)) -> Event {
    match attempt(cell, stop, tell) {
        Ok((metrics, proof)) => {
            Event::Sample(Box::new(Sample { id: cell.id.clone(), metrics, proof }))
        }
        Err(Refusal { reason, detail, proof }) => Event::Void(Box::new(Void {
            id: cell.id.clone(),
            reason,
            detail,
            proof: proof.map(|proof| *proof),
        })),
    }
}

fn attempt(
    cell: &Cell,
    stop: &Stop,
    tell: &mut dyn FnMut(Event),
) -> Result<(Metrics, Proof), Refusal> {
    let workload = &cell.workload;
    let disk = match &cell.disk {
        Some(disk) => {
            let with_log = cell.probes.contains(&Probe::Requests);
            Some(SampleDisk::start(disk, &outside(workload, &cell.scratch)?, with_log)?)
        }
        None => None,
    };
    let event = |phase| Event::Progress { id: cell.id.clone(), phase };
    let outcome = on_disk(cell, disk.as_ref(), stop, &mut |phase| tell(event(phase)));
    let Some(disk) = disk else { return outcome };
    let objection = disk.objection();
    let is_valid = outcome.is_ok() && objection.is_none();
    let mut send = |text| {
        if is_valid {
            tell(Event::Requests { id: cell.id.clone(), text });
        }
    };
    // A disk that was lost, or was not what the arm says, explains a failed command, so it is judged first.
    let judged = disk.end(&mut send).and_then(|counts| match objection {
        Some(reason) => Err(anyhow::anyhow!(reason)),
        None => Ok(counts),
    });
    match (judged, outcome) {
        (Ok(counts), outcome) => {
            outcome.map(|(metrics, proof)| (metrics.into_iter().chain(counts).collect(), proof))
        }
        (Err(error), outcome) => {
            let proof = match outcome {
                Ok((_, proof)) => Some(Box::new(proof)),
                Err(refusal) => refusal.proof,
            };
            Err(Refusal { proof, ..error.into() })
        }
    }
}

/// `place` as the agent names it, which has the machine's own root.
fn outside(workload: &Workload, place: &Path) -> Result<PathBuf, Refusal> {
    let inside = place.strip_prefix("/").map_err(anyhow::Error::from)?;
    Ok(workload.root.as_deref().unwrap_or(Path::new("/")).join(inside))
}

fn on_disk(
    cell: &Cell,
    disk: Option<&SampleDisk>,
    stop: &Stop,
    progress: &mut dyn FnMut(Phase),
) -> Result<(Metrics, Proof), Refusal> {
    let workload = &cell.workload;
    let scratch = Scratch::create(workload.root.as_deref(), &cell.scratch, "work")?;
    let around = surroundings(workload, &scratch, stop)?;
    let beside = match &cell.load {
        Some(load) => {
            Some((load, Scratch::create(load.work.root.as_deref(), &cell.scratch, "load")?))
        }
        None => None,
    };
    let beside = match &beside {
        Some((load, scratch)) => Some((*load, surroundings(&load.work, scratch, stop)?)),
        None => None,
    };
    progress(Phase::Prepare);
    if cell.rehearse {
        rehearse(workload, &around)?;
    }
    prepare(workload, &around)?;
    if let Some((load, around)) = &beside {
        prepare(&load.work, around)?;
    }
    if cell.flush {
        flush::memory()?;
    }
    progress(Phase::Attach);
    let attachment = scheduler::attach(&cell.scheduler)
        .map_err(|error| Refusal::new(error.to_string(), error.detail()))?;
    let mut witness = Witness::before(&attachment);
    progress(Phase::Run);
    let measured = match &beside {
        Some((load, beside)) => measure_beside(load, beside, cell, &around, &mut witness, disk),
        None => measure(cell, &around, &mut witness, disk),
    };
    disk.into_iter().for_each(SampleDisk::note_end);
    let proof = witness.after();
    attachment.detach().map_err(anyhow::Error::from)?;
    // A scheduler that was lost explains a failed command, so it is judged first.
    if let Some(reason) = proof.objection() {
        return Err(Refusal {
            reason,
            detail: proof.kernel_log.join("\n"),
            proof: Some(Box::new(proof)),
        });
    }
    match measured {
        Ok(metrics) => Ok((metrics, proof)),
        Err(refusal) => Err(Refusal { proof: Some(Box::new(proof)), ..refusal }),
    }
}

fn surroundings<'a>(
    workload: &'a Workload,
    scratch: &'a Scratch,
    stop: &'a Stop,
) -> Result<Surroundings<'a>, Refusal> {
    let timeout = Duration::try_from_secs_f64(workload.timeout_s).map_err(|_| {
        let seconds = workload.timeout_s;
        Refusal::new(format!("the time-out {seconds} is not a number of seconds"), "")
    })?;
    let (root, environment) = (workload.root.as_deref(), &workload.environment);
    Ok(Surroundings { root, scratch, environment, timeout, stop })
}

fn prepare(workload: &Workload, around: &Surroundings) -> Result<(), Refusal> {
    for argv in &workload.prepare {
        let cgroup = Cgroup::create("prepare")?;
        let outcome = child::run(argv, around, &cgroup, || ())?;
        judge(&format!("the preparation `{}`", shown(argv)), &outcome, around)?;
    }
    Ok(())
}

/// Runs the workload for what it leaves in the caches, and removes all else that it leaves.
fn rehearse(workload: &Workload, around: &Surroundings) -> Result<(), Refusal> {
    prepare(workload, around)?;
    let cgroup = Cgroup::create("rehearsal")?;
    let outcome = child::run(&workload.command, around, &cgroup, || ())?;
    judge(&format!("the rehearsal of `{}`", shown(&workload.command)), &outcome, around)?;
    Ok(around.scratch.empty()?)
}

fn measure(
    cell: &Cell,
    around: &Surroundings,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let workload = &cell.workload;
    let cgroup = Cgroup::create("workload")?;
    let mut migrations = Migrations::start(&cgroup);
    let probes = Probes::attach(&cell.probes, cgroup.id()?)?;
    let before = Machine::now()?;
    disk.into_iter().for_each(SampleDisk::note_start);
    let outcome = child::run(&workload.command, around, &cgroup, || witness.look_at(&cgroup))?;
    let after = Machine::now()?;
    let seen = probes.map(|probes| probes.read()).transpose()?;
    judge(&format!("the workload `{}`", shown(&workload.command)), &outcome, around)?;

    let cpu = cgroup.cpu_time()?;
    let elapsed_s = outcome.elapsed.as_secs_f64();
    let mut metrics = Metrics::from([
        ("elapsed_s".into(), elapsed_s),
        ("user_s".into(), cpu.user_s),
        ("system_s".into(), cpu.system_s),
        ("cpu_pct".into(), 100.0 * (cpu.user_s + cpu.system_s) / elapsed_s),
        ("voluntary_switches".into(), count(outcome.voluntary_switches)),
        ("involuntary_switches".into(), count(outcome.involuntary_switches)),
        ("max_rss_kb".into(), count(outcome.max_rss_kb)),
    ]);
    if let Some(migrations) = migrations.as_mut().and_then(Migrations::count) {
        metrics.insert("migrations".into(), count(migrations.cast_signed()));
    }
    metrics.extend(after.since(&before));
    metrics.extend(seen.unwrap_or_default());
    read_numbers(workload, &child::tail(&around.scratch.stdout()), &mut metrics)?;
    Ok(metrics)
}

/// The workload beside a load, which is started before and ended after it.
fn measure_beside(
    load: &Load,
    beside: &Surroundings,
    cell: &Cell,
    around: &Surroundings,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let background = Background::start(load, beside)?;
    let mut metrics = measure(cell, around, witness, disk)?;
    let used = background.end(beside)?;
    let elapsed_s = metrics["elapsed_s"];
    metrics.extend([
        ("load_elapsed_s".into(), used.elapsed.as_secs_f64()),
        ("load_user_s".into(), used.cpu.user_s),
        ("load_system_s".into(), used.cpu.system_s),
        ("load_cpu_pct".into(), 100.0 * (used.cpu.user_s + used.cpu.system_s) / elapsed_s),
    ]);
    let output = child::tail(&beside.scratch.stdout());
    read_numbers(&load.work, &output, &mut metrics)?;
    metrics.extend(counted(&output));
    Ok(metrics)
}

/// What a load has counted: the numbers of the JSON object in its last line, if that is one.
fn counted(output: &str) -> impl Iterator<Item = (String, f64)> {
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    let numbers: BTreeMap<String, f64> = serde_json::from_str(last).unwrap_or_default();
    numbers.into_iter().map(|(name, number)| (format!("load_{name}"), number))
}

fn read_numbers(workload: &Workload, output: &str, metrics: &mut Metrics) -> Result<(), Refusal> {
    for extract in &workload.extract {
        metrics.insert(extract.metric.clone(), read_number(extract, output)?);
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn count(value: i64) -> f64 {
    value as f64
}

/// A command in a sentence: of a script its beginning.
fn shown(argv: &[String]) -> String {
    const MOST: usize = 80;
    let line = argv.join(" ");
    let start: String = line.lines().next().unwrap_or_default().chars().take(MOST).collect();
    if start == line { line } else { format!("{start}...") }
}

fn judge(what: &str, outcome: &Outcome, around: &Surroundings) -> Result<(), Refusal> {
    if outcome.ending == Ending::Exit(0) {
        return Ok(());
    }
    let (stderr, stdout) =
        (child::tail(&around.scratch.stderr()), child::tail(&around.scratch.stdout()));
    let output = if stderr.trim().is_empty() { stdout } else { stderr };
    let reason = match outcome.ending {
        Ending::Exit(status) => match last_lines(&output, 1).trim() {
            "" => format!("{what} failed with exit status {status}"),
            words => format!("{what} failed with exit status {status}: {words}"),
        },
        Ending::Signal(signal) => format!("{what} was ended by signal {signal}"),
        Ending::TimedOut => {
            format!("{what} did not end within {} s and was killed", around.timeout.as_secs_f64())
        }
        Ending::Stopped => format!("{what} was stopped on request"),
        Ending::LeftBehind(threads) => {
            format!("{what} ended but left {threads} threads running, which were killed")
        }
    };
    Err(Refusal::new(reason, last_lines(&output, 20)))
}

fn last_lines(text: &str, limit: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(limit)..].join("\n")
}

fn read_number(extract: &Extract, output: &str) -> Result<f64, Refusal> {
    let pattern = Regex::new(&extract.pattern).map_err(|error| {
        Refusal::new(
            format!("the pattern of metric {} is no regular expression", extract.metric),
            error.to_string(),
        )
    })?;
    let number =
        pattern.captures_iter(output).last().and_then(|found| found.get(1)?.as_str().parse().ok());
    number.ok_or_else(|| {
        Refusal::new(
            format!(
                "the output has no number for metric {} (pattern {})",
                extract.metric, extract.pattern
            ),
            last_lines(output, 20),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extract(pattern: &str) -> Extract {
        Extract { metric: "time_s".into(), pattern: pattern.into() }
    }

    #[test]
    fn the_last_match_counts() {
        let number = read_number(&extract(r"Time: ([0-9.]+)"), "Time: 1.5\nTime: 2.25\n");
        assert_eq!(number.map_err(|refusal| refusal.reason), Ok(2.25));
    }

    #[test]
    fn output_without_the_number_names_metric_and_pattern() {
        let refusal = read_number(&extract(r"Time: ([0-9.]+)"), "nothing\n")
            .err()
            .map(|refusal| refusal.reason);
        assert_eq!(
            refusal.as_deref(),
            Some("the output has no number for metric time_s (pattern Time: ([0-9.]+))")
        );
    }

    #[test]
    fn a_load_tells_in_its_last_line_what_it_counted() {
        let found: Vec<_> = counted("ready\n{\"passes\":2,\"units\":1.5}\n").collect();
        assert_eq!(found, [("load_passes".into(), 2.0), ("load_units".into(), 1.5)]);
        assert_eq!(counted("ready\nbye\n").count(), 0);
    }

    #[test]
    fn of_a_script_only_the_beginning_is_shown() {
        let words = |line: &str| line.split('|').map(String::from).collect::<Vec<_>>();
        assert_eq!(shown(&words("make|-j2")), "make -j2");
        assert_eq!(shown(&words("sh|-c|one\ntwo\n")), "sh -c one...");
        assert_eq!(shown(&words(&"x".repeat(100))), format!("{}...", "x".repeat(80)));
    }

    #[test]
    fn only_the_end_of_a_long_log_is_kept() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("", 2), "");
    }
}
