// SPDX-License-Identifier: GPL-2.0-only
//! What kernels answer to an object.

use std::collections::BTreeSet;

use bpfvm::loading::Thing;
use bpfvm::survey::{Lack, Survey, When};
use serde::Serialize;

/// Everything that the object asks for, whether a kernel has it or not.
#[derive(Debug, Serialize)]
pub struct Asked {
    functions: BTreeSet<String>,
    variables: BTreeSet<String>,
    fields: BTreeSet<String>,
}

#[derive(Debug, Serialize)]
pub struct KernelAnswer {
    kernel: &'static str,
    /// The release that its description was made of.
    release: &'static str,
    /// Whether a part of the description is by hand.
    is_by_hand: bool,
    verdict: Verdict,
    /// What it lacks and the object cannot do without.
    needs: Vec<Missing>,
    /// What the object cannot do without if its constants lead there.
    depends: Vec<Missing>,
    /// What newer kernels have, and the object does without.
    without: Vec<Missing>,
    /// What the description says nothing of.
    unknown: Vec<String>,
    /// Questions without a sense.
    wrong: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Loads,
    LoadsWithout,
    DoesNotLoad,
}

#[derive(Debug, Serialize)]
pub struct Missing {
    what: String,
    since: Option<&'static str>,
    gone_since: Option<&'static str>,
    function: Option<String>,
    /// The file and the line of the source.
    file: Option<String>,
    line: Option<u32>,
}

impl Asked {
    pub fn of(survey: &Survey) -> Self {
        let answers = || survey.kernels.iter().map(|(_, loading)| loading);
        let named =
            answers().flat_map(|each| each.has.iter().chain(&each.lacks).chain(&each.unknown));
        let needed = answers().flat_map(|each| each.needs.keys().chain(each.depends.keys()));
        let mut asked = Self {
            functions: BTreeSet::new(),
            variables: BTreeSet::new(),
            fields: BTreeSet::new(),
        };
        for thing in named.chain(needed) {
            match thing {
                Thing::Function(name) | Thing::Prototype(name) => {
                    asked.functions.insert(name.clone())
                }
                Thing::Variable(name) => asked.variables.insert(name.clone()),
                Thing::Field(name) => asked.fields.insert(name.clone()),
                _ => false,
            };
        }
        asked
    }
}

pub fn list(survey: &Survey) -> Vec<KernelAnswer> {
    let kernels = survey.kernels.iter().enumerate();
    kernels
        .map(|(number, (kernel, loading))| {
            let [needs, depends, without] =
                [survey.needs(number), survey.depends(number), survey.without(number)]
                    .map(describe);
            let verdict = match (loading.is_refused(), without.is_empty() && depends.is_empty()) {
                (true, _) => Verdict::DoesNotLoad,
                (false, false) => Verdict::LoadsWithout,
                (false, true) => Verdict::Loads,
            };
            KernelAnswer {
                kernel: kernel.name(),
                release: kernel.source.release,
                is_by_hand: kernel.source.without.is_some(),
                verdict,
                needs,
                depends,
                without,
                unknown: loading.unknown.iter().map(Thing::to_string).collect(),
                wrong: loading.wrong.iter().cloned().collect(),
            }
        })
        .collect()
}

fn describe(lacks: Vec<Lack>) -> Vec<Missing> {
    lacks
        .into_iter()
        .map(|lack| {
            let (since, gone_since) = match lack.when {
                When::Since(kernel) => (Some(kernel), None),
                When::GoneSince(kernel) => (None, Some(kernel)),
                When::Never => (None, None),
            };
            let (function, place) =
                lack.site.map_or((None, None), |site| (Some(site.function), site.line));
            let (file, line) = place.unzip();
            Missing { what: lack.thing.to_string(), since, gone_since, function, file, line }
        })
        .collect()
}
