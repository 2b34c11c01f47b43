// SPDX-License-Identifier: GPL-2.0-only
//! What an object holds and what it asks of kernels, as JSON.

mod answers;
mod contents;
mod settings;

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use bpfvm::Object;
use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::object::find_embedded;
use bpfvm::survey::Survey;
use serde::Serialize;

use answers::{Asked, KernelAnswer};
use contents::{Map, Program, Table};
use settings::{Constant, Parameter};

/// An object.
#[derive(Debug, Serialize)]
pub struct Report {
    tables: Vec<Table>,
    programs: Vec<Program>,
    maps: Vec<Map>,
    /// Bytes of all variables.
    data_bytes: usize,
    parameters: Vec<Parameter>,
    /// What is wrong with the descriptions of others.
    bad_parameters: Vec<String>,
    constants: Vec<Constant>,
    asked: Asked,
    kernels: Vec<KernelAnswer>,
}

/// Reports on all objects in `bytes`: those in a program that hand the kernel a scheduler, or the one that it is.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn inspect(bytes: &[u8]) -> Result<Vec<Report>> {
    let kernels: Vec<_> = (0..KERNELS.len()).map(Kernel::read).collect();
    let found = find_embedded(bytes);
    let is_one = found.first().is_some_and(|first| first.len() == bytes.len());
    if found.is_empty() || is_one {
        return Ok(vec![report(&Object::parse(bytes)?, &kernels)]);
    }
    let mut reports = Vec::new();
    for bytes in found {
        let object = Object::parse(bytes).context("an object inside it cannot be used")?;
        if object.operations.iter().any(|table| table.of.starts_with("sched_ext_ops")) {
            reports.push(report(&object, &kernels));
        }
    }
    if reports.is_empty() {
        bail!("no object inside it hands the kernel a scheduler");
    }
    Ok(reports)
}

/// A kernel that is described.
#[derive(Debug, Serialize)]
pub struct Described {
    name: &'static str,
    /// The release that the description was made of.
    release: &'static str,
    /// Whether a part of the description is by hand.
    is_by_hand: bool,
}

pub fn list_kernels() -> Vec<Described> {
    let described = KERNELS.iter().map(|source| Described {
        name: source.name,
        release: source.release,
        is_by_hand: source.without.is_some(),
    });
    described.collect()
}

fn report(object: &Object, kernels: &[Kernel]) -> Report {
    let survey = Survey::of(object, kernels);
    let called: BTreeSet<&str> = contents::in_tables(object);
    let (parameters, bad_parameters) = settings::list_parameters(object);
    Report {
        tables: object.operations.iter().map(|table| Table::of(object, table, &survey)).collect(),
        programs: contents::list_others(object, &called),
        maps: object.maps.iter().map(Map::of).collect(),
        data_bytes: object.data.iter().map(|data| data.bytes.len()).sum(),
        parameters,
        bad_parameters,
        constants: settings::list_constants(object),
        asked: Asked::of(&survey),
        kernels: answers::list(&survey),
    }
}
