// SPDX-License-Identifier: GPL-2.0-only
//! An object on all kernels that are described: what each lacks, and since when others have it.

use std::collections::BTreeMap;

use crate::kernel::Kernel;
use crate::loading::{Loading, Site, Thing, load};
use crate::object::Object;

/// The answers of the kernels, the oldest first.
#[derive(Debug)]
pub struct Survey<'a> {
    pub kernels: Vec<(&'a Kernel, Loading)>,
}

/// What a kernel lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    pub thing: Thing,
    /// The first place that asks for it, if an instruction does.
    pub site: Option<Site>,
    pub when: When,
}

/// How what a kernel lacks is with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// This is the first that has it; the kernel is older.
    Since(&'static str),
    /// This is the first that does not have it any more; the kernel is that or newer.
    GoneSince(&'static str),
    /// None of those that are described has it.
    Never,
}

impl<'a> Survey<'a> {
    /// Tries an object on kernels, of which the oldest is the first.
    pub fn of(object: &Object, kernels: &'a [Kernel]) -> Self {
        Self { kernels: kernels.iter().map(|kernel| (kernel, load(object, kernel))).collect() }
    }

    /// What the kernel with this number lacks and the object cannot do without.
    pub fn needs(&self, number: usize) -> Vec<Lack> {
        self.list(number, &self.kernels[number].1.needs)
    }

    /// What it lacks and the object does without as long as its constants are those that it was compiled with.
    pub fn depends(&self, number: usize) -> Vec<Lack> {
        self.list(number, &self.kernels[number].1.depends)
    }

    /// What it lacks of what newer kernels have, and the object does without. What only older ones have is not missed: an
    /// object asks for it where the kernel has nothing newer.
    pub fn without(&self, number: usize) -> Vec<Lack> {
        let lacks = self.kernels[number].1.lacks.iter();
        let lacks = lacks.map(|thing| Lack {
            thing: thing.clone(),
            site: None,
            when: self.when(number, thing),
        });
        lacks.filter(|lack| matches!(lack.when, When::Since(_))).collect()
    }

    fn list(&self, number: usize, lacks: &BTreeMap<Thing, Option<Site>>) -> Vec<Lack> {
        let lacks = lacks.iter();
        lacks
            .map(|(thing, site)| Lack {
                thing: thing.clone(),
                site: site.clone(),
                when: self.when(number, thing),
            })
            .collect()
    }

    fn when(&self, number: usize, thing: &Thing) -> When {
        let has = |each: &&(&Kernel, Loading)| each.1.has.contains(thing);
        if let Some((kernel, _)) = self.kernels[number..].iter().find(has) {
            return When::Since(kernel.name());
        }
        match self.kernels[..number].iter().rposition(|each| has(&each)) {
            Some(last) => When::GoneSince(self.kernels[last + 1].0.name()),
            None => When::Never,
        }
    }
}
