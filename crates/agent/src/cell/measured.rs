// SPDX-License-Identifier: GPL-2.0-only
//! The commands of a sample: preparations, rehearsal, and the workload that is measured, alone or beside a load.

use machine::cgroup::Purpose;
use machine::command::{self, Outcome, Surroundings};
use machine::containment::Containment;
use machine::measure::{Machine, Migrations};
use machine::root::Root;
use machine::scratch::tail;
use machine::view::View;
use probes::Probes;
use protocol::{Cell, Load, Workload};
use schedulers::proof::Witness;
use schedulers::sysfs;
use ublk::Metrics;

use super::numbers;
use super::refusal::{Refusal, judge, shown};
use crate::background::Background;
use crate::disk::SampleDisk;

fn contained(purpose: Purpose) -> anyhow::Result<Containment> {
    Containment::create(&Root::machine(), purpose)
}

/// Runs the preparations of `workload` one after the other.
///
/// # Errors
/// One of them fails.
pub fn prepare(workload: &Workload, around: &Surroundings) -> Result<(), Refusal> {
    workload.prepare.iter().try_for_each(|argv| {
        once(Purpose::Prepare, &format!("the preparation `{}`", shown(argv)), argv, around)
    })
}

/// Runs the workload for what it leaves in the caches, and removes all else that it leaves.
///
/// # Errors
/// It fails, or something of it stays.
pub fn rehearse(workload: &Workload, around: &Surroundings) -> Result<(), Refusal> {
    let view = View::new()?;
    let around = &Surroundings { view: &view, ..*around };
    prepare(workload, around)?;
    let what = format!("the rehearsal of `{}`", shown(&workload.command));
    once(Purpose::Rehearsal, &what, &workload.command, around)?;
    Ok(around.scratch.empty()?)
}

fn once(
    purpose: Purpose,
    what: &str,
    argv: &[String],
    around: &Surroundings,
) -> Result<(), Refusal> {
    let containment = contained(purpose)?;
    let outcome = command::run(argv, around, &containment, |_| ())?;
    judge(what, &outcome, around)?;
    Ok(containment.end()?)
}

/// Runs and measures the workload of `cell`, with `beside` also its load, while `witness` looks.
///
/// # Errors
/// One of them does not run as it should.
pub fn measure(
    cell: &Cell,
    around: &Surroundings,
    beside: Option<&(&Load, Surroundings)>,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let metrics = match beside {
        Some((load, beside)) => measure_beside(load, beside, cell, around, witness, disk),
        None => measure_alone(cell, around, witness, disk),
    }?;
    numbers::require_finite(&metrics)?;
    Ok(metrics)
}

fn measure_alone(
    cell: &Cell,
    around: &Surroundings,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let workload = &cell.workload;
    let containment = contained(Purpose::Workload)?;
    let cgroup = containment.cgroup();
    let mut migrations = Migrations::start(cgroup);
    let probes = Probes::attach(&cell.probes, cgroup.id()?, &sysfs::read().ops)?;
    let before = Machine::now()?;
    disk.into_iter().for_each(SampleDisk::note_start);
    let look = |leader| witness.look_at(cgroup, leader);
    let outcome = command::run(&workload.command, around, &containment, look)?;
    let after = Machine::now()?;
    let seen = probes.map(|probes| probes.read()).transpose()?;
    judge(&format!("the workload `{}`", shown(&workload.command)), &outcome, around)?;
    let mut metrics = used(&outcome, &containment)?;
    if let Some(migrations) = migrations.as_mut().and_then(Migrations::count) {
        metrics.insert("migrations".into(), count(migrations.cast_signed()));
    }
    metrics.extend(after.since(&before));
    metrics.extend(seen.unwrap_or_default());
    numbers::read(workload, &tail(&around.scratch.stdout()), &mut metrics)?;
    containment.end()?;
    Ok(metrics)
}

fn used(outcome: &Outcome, containment: &Containment) -> Result<Metrics, Refusal> {
    let cpu = containment.cgroup().cpu_time()?;
    let elapsed_s = outcome.elapsed.as_secs_f64();
    Ok(Metrics::from([
        ("elapsed_s".into(), elapsed_s),
        ("user_s".into(), cpu.user_s),
        ("system_s".into(), cpu.system_s),
        ("cpu_pct".into(), 100.0 * cpu.total_s() / elapsed_s),
        ("voluntary_switches".into(), count(outcome.voluntary_switches)),
        ("involuntary_switches".into(), count(outcome.involuntary_switches)),
        ("max_rss_kb".into(), count(outcome.max_rss_kb)),
    ]))
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
    let mut metrics = measure_alone(cell, around, witness, disk)?;
    let used = background.end(beside)?;
    let elapsed_s = metrics["elapsed_s"];
    metrics.extend([
        ("load_elapsed_s".into(), used.elapsed.as_secs_f64()),
        ("load_user_s".into(), used.cpu.user_s),
        ("load_system_s".into(), used.cpu.system_s),
        ("load_cpu_pct".into(), 100.0 * used.cpu.total_s() / elapsed_s),
    ]);
    let output = tail(&beside.scratch.stdout());
    numbers::read(&load.work, &output, &mut metrics)?;
    let counted: Metrics = numbers::counted(&output).collect();
    if used.is_idle() && counted.values().all(|&number| number == 0.0) {
        let name = &load.work.name;
        let reason = format!("the load `{name}` did not work: no CPU time, nothing counted");
        return Err(Refusal::new(reason, ""));
    }
    metrics.extend(counted);
    Ok(metrics)
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn count(value: i64) -> f64 {
    value as f64
}
