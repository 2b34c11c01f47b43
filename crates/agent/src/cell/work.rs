// SPDX-License-Identifier: GPL-2.0-only
//! The commands of a sample: preparations, rehearsal, and the workload that is measured, alone or with a load.

use machine::cgroup::Purpose;
use machine::command::{self, Outcome, Surroundings};
use machine::containment::Containment;
use machine::cpu_limits::{Found, Watch};
use machine::measure::{Machine, Migrations};
use machine::root::Root;
use machine::scratch::{Speaker, tail};
use machine::view::View;
use probes::Probes;
use protocol::{Cell, Metric, Metrics, Workload};
use schedulers::proof::Witness;
use schedulers::sysfs;
use settings::WorkSettings;

use super::metrics::{
    CPU_PCT, ELAPSED_S, INVOLUNTARY_SWITCHES, LOAD_CPU_PCT, LOAD_ELAPSED_S, LOAD_SYSTEM_S,
    LOAD_USER_S, MAX_RSS_KB, MIGRATIONS, SERVER_CPU_PCT, SERVER_SYSTEM_S, SERVER_USER_S, SYSTEM_S,
    USER_S, VOLUNTARY_SWITCHES,
};
use super::refusal::{Refusal, judge, last_lines, shorten};
use super::site::{LoadWork, Site};
use super::{limits, numbers};
use crate::background::Usage;
use crate::background::load::RunningLoad;
use crate::background::server::RunningServer;
use crate::booted::is_booted_for_us;
use crate::disk::SampleDisk;

fn create_containment(purpose: Purpose) -> anyhow::Result<Containment> {
    Containment::create(&Root::machine(), purpose)
}

/// Brings the files of `workload`, and runs its preparations one after the other.
///
/// # Errors
/// A file is not the one of its digest, or a preparation fails.
pub fn prepare(workload: &Workload, context: &Surroundings) -> Result<(), Refusal> {
    context.scratch.bring(&workload.files)?;
    workload.prepare.iter().try_for_each(|argv| {
        run_once(Purpose::Prepare, &format!("the preparation `{}`", shorten(argv)), argv, context)
    })
}

/// Runs the workload to fill the caches, and removes everything else that it leaves.
///
/// # Errors
/// The workload fails, or leaves something that cannot be removed.
pub fn rehearse(
    workload: &Workload,
    settings: &WorkSettings,
    context: &Surroundings,
) -> Result<(), Refusal> {
    let view = View::new()?;
    let context = &Surroundings { view: &view, ..*context };
    prepare(workload, context)?;
    let what = format!("the rehearsal of `{}`", shorten(&workload.command));
    let group = create_containment(Purpose::Rehearsal)?;
    let server = start_server(workload, settings, &group, context)?;
    run_in(group.create_nested(Purpose::Client)?, &what, &workload.command, context)?;
    server.map(RunningServer::end).transpose()?;
    group.end()?;
    Ok(context.scratch.empty()?)
}

fn run_once(
    purpose: Purpose,
    what: &str,
    argv: &[String],
    context: &Surroundings,
) -> Result<(), Refusal> {
    run_in(create_containment(purpose)?, what, argv, context)
}

fn run_in(
    containment: Containment,
    what: &str,
    argv: &[String],
    context: &Surroundings,
) -> Result<(), Refusal> {
    let outcome = command::run(argv, context, &containment, |_| ())?;
    judge(what, &outcome, context)?;
    Ok(containment.end()?)
}

/// Runs and measures the workload of `cell`, and `load` in the background, while `witness` looks.
///
/// # Errors
/// One of them does not run as it should.
pub fn measure(
    site: &Site,
    cell: &Cell,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let metrics = match &site.load() {
        Some(load) => measure_with_load(load, site, cell, witness, disk),
        None => measure_alone(site, cell, witness, disk),
    }?;
    numbers::require_finite(&metrics)?;
    Ok(metrics)
}

fn measure_alone(
    site: &Site,
    cell: &Cell,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let (workload, context, settings) = (&cell.workload, &site.work(), site.settings());
    let group = create_containment(Purpose::Workload)?;
    let cgroup = group.cgroup();
    settings.limit(cgroup).map_err(anyhow::Error::from)?;
    let mut server = start_server(workload, settings, &group, context)?;
    let client = server.is_some().then(|| group.create_nested(Purpose::Client)).transpose()?;
    let containment = client.as_ref().unwrap_or(&group);
    let mut objection = None;
    let mut migrations = Migrations::start(cgroup);
    let probes = Probes::attach(&cell.probes, cgroup.id()?, &sysfs::read().ops)?;
    let watch = Watch::start(&Root::machine(), is_booted_for_us());
    let before = Machine::now()?;
    disk.into_iter().for_each(SampleDisk::note_start);
    let quota = limits::Quota::watch(settings, cgroup);
    if let Some(server) = &mut server {
        witness.look_at(cgroup, server.leader());
        server.note_start()?;
    }
    let look = |leader| {
        witness.look_at(cgroup, leader);
        objection = objection.take().or_else(|| settings.objection_to(leader));
    };
    let outcome = command::run(&workload.command, context, containment, look)?;
    let after = Machine::now()?;
    let found = watch.map_or_else(|error| Found::unwatched(format!("{error:#}")), Watch::end);
    witness.note_limits(&found, &cell.scheduler);
    let observed = probes.map(|probes| probes.read()).transpose()?;
    if let Some(server) = &mut server {
        witness.look_at(cgroup, server.leader());
        // A server that was lost explains a command that failed.
        server.require_running().map_err(|error| lost(error, context))?;
    }
    judge(&format!("the workload `{}`", shorten(&workload.command)), &outcome, context)?;
    let served = server.map(RunningServer::end).transpose()?;
    if let Some(reason) = objection.or_else(|| settings.objection(cgroup)) {
        return Err(Refusal::new(reason, ""));
    }
    let mut metrics = usage(&outcome, containment)?;
    if let Some(migrations) = migrations.as_mut().and_then(Migrations::count) {
        metrics.insert(&MIGRATIONS, count(migrations.cast_signed()));
    }
    metrics.extend(after.since(&before));
    metrics.extend(served.iter().flat_map(|served| usage_of_server(served, &outcome)));
    quota.into_iter().for_each(|quota| quota.add_to(&mut metrics));
    metrics.merge(observed.unwrap_or_default());
    numbers::read(workload, context, &mut metrics)?;
    client.map(Containment::end).transpose()?;
    group.end()?;
    Ok(metrics)
}

/// Starts the server of the workload, if it has one, inside `group`, and waits until it answers.
fn start_server<'a>(
    workload: &Workload,
    settings: &'a WorkSettings,
    group: &Containment,
    context: &Surroundings<'a>,
) -> Result<Option<RunningServer<'a>>, Refusal> {
    let Some(server) = &workload.server else { return Ok(None) };
    let started = RunningServer::start(server, settings, group, *context);
    Ok(Some(started.map_err(|error| lost(error, context))?))
}

/// Why the server was lost, with the end of what it has printed.
fn lost(error: anyhow::Error, context: &Surroundings) -> Refusal {
    let said = tail(&context.scratch.stderr(Speaker::Server));
    Refusal::from(error).with_detail(last_lines(&said, 20))
}

fn usage(outcome: &Outcome, containment: &Containment) -> Result<Metrics, Refusal> {
    let cpu = containment.cgroup().cpu_time()?;
    let elapsed_s = outcome.elapsed.as_secs_f64();
    Ok(Metrics::from([
        (&ELAPSED_S, elapsed_s),
        (&USER_S, cpu.user_s),
        (&SYSTEM_S, cpu.system_s),
        (&CPU_PCT, 100.0 * cpu.total_s() / elapsed_s),
        (&VOLUNTARY_SWITCHES, count(outcome.voluntary_switches)),
        (&INVOLUNTARY_SWITCHES, count(outcome.involuntary_switches)),
        (&MAX_RSS_KB, count(outcome.max_rss_kb)),
    ]))
}

fn usage_of_server(served: &Usage, outcome: &Outcome) -> [(&'static Metric, f64); 3] {
    let percent = 100.0 * served.cpu.total_s() / outcome.elapsed.as_secs_f64();
    [
        (&SERVER_USER_S, served.cpu.user_s),
        (&SERVER_SYSTEM_S, served.cpu.system_s),
        (&SERVER_CPU_PCT, percent),
    ]
}

/// Measures the workload while a load runs, which is started before and ended after it.
fn measure_with_load(
    LoadWork { load, settings, context: load_context }: &LoadWork,
    site: &Site,
    cell: &Cell,
    witness: &mut Witness,
    disk: Option<&SampleDisk>,
) -> Result<Metrics, Refusal> {
    let running = RunningLoad::start(load, settings, *load_context)?;
    let mut metrics = measure_alone(site, cell, witness, disk)?;
    let usage = running.end()?;
    let elapsed_s = metrics.get(&ELAPSED_S).expect("every workload has it");
    metrics.extend([
        (&LOAD_ELAPSED_S, usage.elapsed.as_secs_f64()),
        (&LOAD_USER_S, usage.cpu.user_s),
        (&LOAD_SYSTEM_S, usage.cpu.system_s),
        (&LOAD_CPU_PCT, 100.0 * usage.cpu.total_s() / elapsed_s),
    ]);
    limits::add_beside_load(site.settings(), settings, &mut metrics);
    let output = tail(&load_context.stdout());
    numbers::read(&load.work, load_context, &mut metrics)?;
    let counters = numbers::read_counters(&output);
    if usage.is_idle() && counters.iter().all(|(_, number)| number == 0.0) {
        let name = &load.work.name;
        let reason = format!("the load `{name}` did not work: no CPU time, nothing counted");
        return Err(Refusal::new(reason, ""));
    }
    metrics.merge(counters);
    Ok(metrics)
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn count(value: i64) -> f64 {
    value as f64
}
