// SPDX-License-Identifier: GPL-2.0-only
//! What can be set, described, with the values that it has here.

use std::fs;
use std::path::Path;

use machine::root::Root;
use serde::Serialize;

use crate::file::{SettingFile, read};
use crate::files::{self, FAMILIES};
use crate::work;

/// A setting, or a family of them, which ends in `.NAME`.
#[derive(Debug, Serialize)]
pub struct Description {
    pub name: &'static str,
    /// What it changes.
    pub sentence: &'static str,
    pub scope: Scope,
    pub values: Values,
    /// The least and the greatest value, of a range.
    pub range: Option<[i64; 2]>,
    /// What it has here; of a family the members that matter for scheduling.
    pub here: Vec<Here>,
    /// Why it is not here.
    pub absent: Option<String>,
}

/// What has a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The whole machine, until it is put back.
    Machine,
    /// A real CPU, until it is put back: a guest has none.
    Hardware,
    /// The boot of the machine.
    Boot,
    /// The processes of the workload, or of a load, and their control group.
    Work,
}

/// The form of a value in an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// Numbers, or words that the kernel offers.
    Any,
    /// One of the words that the kernel offers.
    Word,
    /// `on` or `off`.
    Switch,
    /// Words with blanks between them.
    Words,
    /// A whole number between two others.
    Range,
    /// `normal`, `batch`, `idle`, or `fifo` and `rr` with a priority.
    Policy,
    /// Percent of one CPU, or `max`.
    Quota,
    /// Such as `0-3,8`.
    Cpus,
}

/// The value of one setting here.
#[derive(Debug, Serialize)]
pub struct Here {
    pub name: String,
    pub value: String,
    /// The values that the kernel offers; empty if it does not tell.
    pub offered: Vec<String>,
}

const ALL: [(&str, &str, Scope, Values); 13] = [
    (
        "sched.NAME",
        "a file of the kernel's own scheduler in /sys/kernel/debug/sched, such as base_slice_ns or features",
        Scope::Machine,
        Values::Any,
    ),
    (
        "sysctl.NAME",
        "a variable of the kernel as sysctl(8) names it, such as kernel.sched_autogroup_enabled",
        Scope::Machine,
        Values::Any,
    ),
    ("governor", "what chooses the frequency of all CPUs (cpufreq)", Scope::Hardware, Values::Word),
    (
        "epp",
        "whether CPUs that choose their frequency themselves prefer energy or performance",
        Scope::Hardware,
        Values::Word,
    ),
    ("boost", "frequencies above the nominal one (turbo)", Scope::Hardware, Values::Switch),
    ("thp", "transparent huge pages", Scope::Machine, Values::Word),
    ("smt", "the second and further threads of each core", Scope::Machine, Values::Switch),
    (
        "cmdline",
        "words at the end of the kernel's command line, such as preempt=lazy",
        Scope::Boot,
        Values::Words,
    ),
    ("nice", "the nice value with which the work begins", Scope::Work, Values::Range),
    (
        "policy",
        "the scheduling policy with which the work begins, as in sched(7)",
        Scope::Work,
        Values::Policy,
    ),
    (
        "weight",
        "the share of CPU time of the work's control group among others (cpu.weight)",
        Scope::Work,
        Values::Range,
    ),
    (
        "quota",
        "the most CPU time of the work's control group in each 0.1 s (cpu.max)",
        Scope::Work,
        Values::Quota,
    ),
    (
        "cpuset",
        "the CPUs that the work may use (cpuset.cpus of its control group)",
        Scope::Work,
        Values::Cpus,
    ),
];

/// Files that are told of a family: the others have nothing to do with scheduling, or no single
/// value.
const TOLD: [(&str, &str, &[&str]); 3] = [
    (
        "sched.",
        "",
        &[
            "base_slice_ns",
            "features",
            "migration_cost_ns",
            "nr_migrate",
            "preempt",
            "tunable_scaling",
        ],
    ),
    ("sysctl.", "kernel", &["numa_balancing", "timer_migration"]),
    ("sysctl.", "kernel", &["sched_"]),
];

/// Describes every setting.
pub fn describe(root: &Root) -> Vec<Description> {
    let described = ALL.map(|(name, sentence, scope, values)| {
        let (here, absent) = match name.strip_suffix("NAME") {
            Some(prefix) => members(root, prefix),
            None if matches!(scope, Scope::Work | Scope::Boot) => (Vec::new(), None),
            None => alone(root, name),
        };
        let range = work::range(name).map(|range| [*range.start(), *range.end()]);
        Description { name, sentence, scope, values, range, here, absent }
    });
    described.into()
}

fn alone(root: &Root, name: &str) -> (Vec<Here>, Option<String>) {
    match files::find(root, name) {
        Ok(files) => (files.first().and_then(|file| here(name, file)).into_iter().collect(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    }
}

fn members(root: &Root, prefix: &str) -> (Vec<Here>, Option<String>) {
    let (_, top) = FAMILIES.iter().find(|(one, _)| *one == prefix).expect("it is a family");
    let mut found = Vec::new();
    for (_, below, names) in TOLD.iter().filter(|(family, ..)| *family == prefix) {
        found.extend(list(&root.at(top).join(below), names).into_iter().map(|name| {
            let dotted = if below.is_empty() { name } else { format!("{below}.{name}") };
            format!("{prefix}{dotted}")
        }));
    }
    let told: Vec<_> = found
        .iter()
        .filter_map(|name| here(name, files::find(root, name).ok()?.first()?))
        .collect();
    let absent = told.is_empty().then(|| files::find(root, &format!("{prefix}x")).err());
    (told, absent.flatten().map(|error| error.to_string()))
}

/// The files of a directory that have one of these names, or begin with one that ends in `_`.
fn list(directory: &Path, names: &[&str]) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_told = |file: &String| {
        names.iter().any(|name| file == name || name.ends_with('_') && file.starts_with(name))
    };
    let mut found: Vec<_> = files.filter(is_told).collect();
    found.sort();
    found
}

fn here(name: &str, file: &SettingFile) -> Option<Here> {
    read(&file.path).ok()?;
    Some(Here { name: name.into(), value: file.value().ok()?, offered: file.offered() })
}
