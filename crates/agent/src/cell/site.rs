// SPDX-License-Identifier: GPL-2.0-only
//! Where a sample is taken: its disk, and the directories and mounts of its commands.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use machine::command::Surroundings;
use machine::mounts;
use machine::scratch::{Scratch, Speaker};
use machine::stop::Stop;
use machine::view::View;
use protocol::{Cell, Event, Load, Probe, Workload};
use settings::WorkSettings;

use super::refusal::{Refusal, SampleResult};
use crate::disk::{SampleDisk, place};

/// Starts the disk of `cell`, if it wants one.
///
/// # Errors
/// The disk cannot be made or borrowed.
pub fn start_disk<'a>(cell: &Cell, stop: &'a Stop) -> Result<Option<SampleDisk<'a>>, Refusal> {
    let Some(disk) = &cell.disk else { return Ok(None) };
    let with_log = cell.probes.contains(&Probe::Requests);
    let root = cell.workload.root.as_deref();
    let place = path_for_agent(&cell.workload, &cell.scratch)?;
    Ok(Some(SampleDisk::start(disk, root, &place, with_log, stop)?))
}

/// Ends the disk of a sample with this outcome, and adds its metrics. `tell` gets the log of its requests if the sample
/// is valid.
pub fn end_disk(
    disk: SampleDisk,
    cell: &Cell,
    outcome: SampleResult,
    tell: &mut dyn FnMut(Event),
) -> SampleResult {
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
            let (mut metrics, proof) = outcome?;
            metrics.merge(counts);
            Ok((metrics, proof))
        }
        (Err(error), Ok((_, proof))) => Err(Refusal::from(error).with_proof(proof)),
        (Err(error), Err(Refusal { proof, .. })) => Err(Refusal { proof, ..error.into() }),
    }
}

/// The directories of a sample, and what its commands see mounted. The fields are dropped in this order: what was mounted
/// in a directory goes before it.
pub struct Site<'a> {
    view: View,
    load: Option<(&'a Load, Place<'a>)>,
    work: Place<'a>,
    stop: &'a Stop,
}

/// A load, its settings, and the surroundings of its commands.
pub struct LoadWork<'a> {
    pub load: &'a Load,
    pub settings: &'a WorkSettings,
    pub context: Surroundings<'a>,
}

/// The directory and the time limit of one workload.
struct Place<'a> {
    scratch: Scratch,
    workload: &'a Workload,
    settings: WorkSettings,
    timeout: Duration,
}

impl<'a> Site<'a> {
    /// Makes the directories of workload and load, and a view of the mounts for both.
    ///
    /// # Errors
    /// A directory cannot be made, or a time-out is not a number of seconds.
    pub fn create(cell: &'a Cell, stop: &'a Stop) -> Result<Self, Refusal> {
        mounts::keep_apart()?;
        let workload = &cell.workload;
        let scratch = create_scratch(workload, cell, "work")?;
        let load = match &cell.load {
            Some(load) => Some((load, create_scratch(&load.work, cell, "load")?)),
            None => None,
        };
        // After disk and directories are mounted, because the commands must see them.
        let view = View::new()?;
        let work_timeout = timeout(workload)?;
        let load_timeout = cell.load.as_ref().map_or(Ok(Duration::ZERO), |it| timeout(&it.work))?;
        let settings = parse_settings(workload)?;
        let work = Place { scratch, workload, settings, timeout: work_timeout };
        let load = match load {
            Some((load, scratch)) => {
                let settings = parse_settings(&load.work)?;
                let workload = &load.work;
                Some((load, Place { scratch, workload, settings, timeout: load_timeout }))
            }
            None => None,
        };
        Ok(Self { view, load, work, stop })
    }

    /// The surroundings of the workload's commands.
    pub fn work(&self) -> Surroundings<'_> {
        self.context(&self.work)
    }

    /// The settings of the workload.
    pub fn settings(&self) -> &WorkSettings {
        &self.work.settings
    }

    /// The load with the surroundings of its commands.
    pub fn load(&self) -> Option<LoadWork<'_>> {
        let (load, place) = self.load.as_ref()?;
        Some(LoadWork { load, settings: &place.settings, context: self.context(place) })
    }

    fn context<'s>(&'s self, place: &'s Place) -> Surroundings<'s> {
        let Place { scratch, workload, settings, timeout } = place;
        Surroundings {
            root: workload.root.as_deref(),
            view: &self.view,
            scratch,
            speaker: Speaker::Command,
            environment: &workload.environment,
            timeout: *timeout,
            scheduling: settings.scheduling(),
            stop: self.stop,
        }
    }

    /// Removes the directories with everything that was mounted there; where that fails the sample
    /// is void.
    pub fn clear(self, outcome: SampleResult) -> SampleResult {
        drop(self.view);
        let scratches = [Some(self.work.scratch), self.load.map(|(_, place)| place.scratch)];
        // Clear every directory, even when one of them fails.
        let cleared: Vec<_> = scratches.into_iter().flatten().map(Scratch::end).collect();
        let (metrics, proof) = outcome?;
        match cleared.into_iter().collect::<anyhow::Result<()>>() {
            Ok(()) => Ok((metrics, proof)),
            Err(error) => Err(Refusal::from(error).with_proof(proof)),
        }
    }
}

/// Makes a directory at a path that only root can change, so that nobody can redirect what root
/// writes.
fn create_scratch(work: &Workload, cell: &Cell, name: &str) -> Result<Scratch, Refusal> {
    let root = work.root.as_ref().map(|root| {
        root.canonicalize().with_context(|| format!("cannot work below {}", root.display()))
    });
    let root = root.transpose()?;
    let place = path_for_agent(work, &cell.scratch)?;
    let resolved = place::resolve_for_work(root.as_deref(), &place).map_err(anyhow::Error::from)?;
    let below = resolved.strip_prefix(root.as_deref().unwrap_or(Path::new("/")));
    let inside = Path::new("/").join(below.map_err(anyhow::Error::from)?);
    Ok(Scratch::create(root.as_deref(), &inside, name)?)
}

/// Translates `place`, a path of the workload, into one of the agent, which has the machine's own root.
fn path_for_agent(workload: &Workload, place: &Path) -> Result<PathBuf, Refusal> {
    let mut parts = place.components();
    // A step up could lead out of the workload's root.
    let is_whole = parts.next() == Some(Component::RootDir)
        && parts.all(|part| matches!(part, Component::Normal(_)));
    if !is_whole {
        let sentence = format!("cannot work in {}: it is not an absolute path", place.display());
        return Err(Refusal::new(sentence, ""));
    }
    let inside = place.strip_prefix("/").map_err(anyhow::Error::from)?;
    Ok(workload.root.as_deref().unwrap_or(Path::new("/")).join(inside))
}

fn parse_settings(workload: &Workload) -> anyhow::Result<WorkSettings> {
    Ok(WorkSettings::parse(&workload.settings)?)
}

fn timeout(workload: &Workload) -> Result<Duration, Refusal> {
    Duration::try_from_secs_f64(workload.timeout_s).map_err(|_| {
        let seconds = workload.timeout_s;
        Refusal::new(format!("the time-out {seconds} is not a number of seconds"), "")
    })
}
