// SPDX-License-Identifier: GPL-2.0-only
//! The commands of a sample: preparations, rehearsal, and the workload that is measured, alone or with a load.

use machine::cgroup::Purpose;
use machine::command::{self, Outcome, Surroundings};
use machine::containment::Containment;
use machine::measure::{Machine, Migrations};
use machine::root::Root;
use machine::scratch::tail;
use machine::view::View;
use probes::Probes;
use protocol::{Cell, Load, Metrics, Workload};
use schedulers::proof::Witness;
use schedulers::sysfs;

use super::numbers;
use super::refusal::{Refusal, judge, shorten};
use crate::background::Background;
use crate::disk::SampleDisk;

/// A load, and what surrounds its commands.
pub struct LoadWork<'a> {
    pub load: &'a Load,
    pub context: Surroundings<'a>,
}

fn create_containment(purpose: Purpose) -> anyhow::Result<Containment> {
    Containment::create(&Root::machine(), purpose)
}

/// Runs the preparations of `workload` one after the other.
///
/// # Errors
/// One of them fails.
pub fn prepare(workload: &Workload, context: &Surroundings) -> Result<(), Refusal> {
    workload.prepare.iter().try_for_each(|argv| {
        run_once(Purpose::Prepare, &format!("the preparation `{}`", shorten(argv)), argv, context)
    })
}

/// Runs the workload for what it leaves in the caches, and removes all else that it leaves.
///
/// # Errors
/// It fails, or something of it stays.
pub fn rehearse(workload: &Workload, context: &Surroundings) -> Result<(), Refusal> {
    let view = View::new()?;
    let context = &Surroundings { view: &view, ..*context };
    prepare(workload, context)?;
    let what = format!("the rehearsal of `{}`", shorten(&workload.command));
    run_once(Purpose::Rehearsal, &what, &workload.command, context)?;
    Ok(context.scratch.empty()?)
}

fn run_once(
    purpose: Purpose,
    what: &str,
    argv: &[String],
    context: &Surroundings,
) -> Result<(), Refusal> {
    let containment = create_containment(purpose)?;
    let outcome = command::run(argv, context, &containment, |_| ())?;
    judge(what, &outcome, context)?;
    Ok(containment.end()?)
}

/// Runs and measures the workload of `cell`, and `load` in the background, while `witness` looks.
///
/// # Errors
/// One of them does not run as it should.
pub fn measure(
    cell: &Cell,
    context: &Surroundings,
    load: Option<&LoadWork>,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let metrics = match load {
        Some(load) => measure_with_load(load, cell, context, witness, disk),
        None => measure_alone(cell, context, witness, disk),
    }?;
    numbers::require_finite(&metrics)?;
    Ok(metrics)
}

fn measure_alone(
    cell: &Cell,
    context: &Surroundings,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let workload = &cell.workload;
    let containment = create_containment(Purpose::Workload)?;
    let cgroup = containment.cgroup();
    let mut migrations = Migrations::start(cgroup);
    let probes = Probes::attach(&cell.probes, cgroup.id()?, &sysfs::read().ops)?;
    let before = Machine::now()?;
    disk.into_iter().for_each(SampleDisk::note_start);
    let look = |leader| witness.look_at(cgroup, leader);
    let outcome = command::run(&workload.command, context, &containment, look)?;
    let after = Machine::now()?;
    let observed = probes.map(|probes| probes.read()).transpose()?;
    judge(&format!("the workload `{}`", shorten(&workload.command)), &outcome, context)?;
    let mut metrics = usage(&outcome, &containment)?;
    if let Some(migrations) = migrations.as_mut().and_then(Migrations::count) {
        metrics.insert("migrations".into(), count(migrations.cast_signed()));
    }
    metrics.extend(after.since(&before));
    metrics.extend(observed.unwrap_or_default());
    numbers::read(workload, &tail(&context.scratch.stdout()), &mut metrics)?;
    containment.end()?;
    Ok(metrics)
}

fn usage(outcome: &Outcome, containment: &Containment) -> Result<Metrics, Refusal> {
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

/// Measures the workload while a load runs, which is started before and ended after it.
fn measure_with_load(
    LoadWork { load, context: load_context }: &LoadWork,
    cell: &Cell,
    context: &Surroundings,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let background = Background::start(load, load_context)?;
    let mut metrics = measure_alone(cell, context, witness, disk)?;
    let usage = background.end(load_context)?;
    let elapsed_s = metrics["elapsed_s"];
    metrics.extend([
        ("load_elapsed_s".into(), usage.elapsed.as_secs_f64()),
        ("load_user_s".into(), usage.cpu.user_s),
        ("load_system_s".into(), usage.cpu.system_s),
        ("load_cpu_pct".into(), 100.0 * usage.cpu.total_s() / elapsed_s),
    ]);
    let output = tail(&load_context.scratch.stdout());
    numbers::read(&load.work, &output, &mut metrics)?;
    let counters: Metrics = numbers::read_counters(&output).collect();
    if usage.is_idle() && counters.values().all(|&number| number == 0.0) {
        let name = &load.work.name;
        let reason = format!("the load `{name}` did not work: no CPU time, nothing counted");
        return Err(Refusal::new(reason, ""));
    }
    metrics.extend(counters);
    Ok(metrics)
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn count(value: i64) -> f64 {
    value as f64
}
