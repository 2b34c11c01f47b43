// SPDX-License-Identifier: GPL-2.0-only

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

use btf::CoreKind;

use super::answer::Loading;
use super::thing::{Site, Thing};
use crate::fit::{Asked, Fitted, fit};
use crate::kernel::{Kernel, Named};
use crate::object::Object;
use crate::relate::{Answer, essential};

/// An object that is tried on a kernel.
pub struct Trial<'a> {
    pub object: &'a Object,
    pub kernel: &'a Kernel,
    pub fitted: Fitted,
    pub loading: Loading,
    /// Instructions that must not be reached, by code and place, and what they ask for.
    pub poisoned: BTreeMap<(usize, usize), Thing>,
    /// Instructions whose answer the kernel's description does not have.
    pub unanswered: BTreeSet<(usize, usize)>,
    /// Whether the kernel has each of the things that the object wants from outside.
    pub is_there: Vec<bool>,
}

impl<'a> Trial<'a> {
    /// Asks all questions about types, and looks for what the object wants from outside.
    pub fn begin(object: &'a Object, kernel: &'a Kernel) -> Self {
        let mut trial = Self {
            object,
            kernel,
            fitted: fit(object, &kernel.types),
            loading: Loading::default(),
            poisoned: BTreeMap::new(),
            unanswered: BTreeSet::new(),
            is_there: Vec::new(),
        };
        trial.loading.wrong = take(&mut trial.fitted.wrong);
        for asked in take(&mut trial.fitted.asked) {
            trial.note_answer(asked);
        }
        trial.is_there = object.outside.iter().map(|each| trial.look_for(each)).collect();
        trial
    }

    fn note_answer(&mut self, asked: Asked) {
        use CoreKind::{EnumeratorExists, FieldExists, TypeExists, TypeIdLocal, TypeMatches};
        let loading = &mut self.loading;
        let thing = Thing::Field(asked.what);
        let is_absent = match (asked.answer, asked.kind) {
            (_, TypeIdLocal) => return,
            (Answer::Value(0), EnumeratorExists | FieldExists | TypeExists | TypeMatches)
            | (Answer::Missing, _) => true,
            (Answer::Value(_), _) => false,
            (Answer::Unknown, _) => {
                self.unanswered.insert(asked.at);
                loading.unknown.insert(thing);
                return;
            }
        };
        if !is_absent {
            loading.has.insert(thing);
        } else if is_left_out(self.kernel, &thing) {
            self.unanswered.insert(asked.at);
            loading.unknown.insert(thing);
        } else if asked.answer == Answer::Missing {
            self.poisoned.insert(asked.at, thing);
        } else {
            loading.lacks.insert(thing);
        }
    }

    /// Puts together what is missing: everywhere, or only with other constants than those of the compiler.
    pub fn conclude(
        &mut self,
        compiled: BTreeMap<Thing, Option<Site>>,
        any: BTreeMap<Thing, Option<Site>>,
    ) {
        let loading = &mut self.loading;
        for (thing, site) in compiled {
            let known = loading.needs.entry(thing).or_insert(None);
            *known = known.take().or(site);
        }
        loading
            .depends
            .extend(any.into_iter().filter(|(thing, _)| !loading.needs.contains_key(thing)));
        loading.lacks.extend(self.poisoned.values().cloned());
        loading.lacks.retain(|thing| {
            !loading.needs.contains_key(thing) && !loading.depends.contains_key(thing)
        });
    }

    pub fn check_maps(&mut self) {
        for map in &self.object.maps {
            let name = map.kind.name().map_or_else(|| map.kind.0.to_string(), str::to_owned);
            let constant = format!("BPF_MAP_TYPE_{}", name.to_uppercase());
            let is_there = self.kernel.enumerator(&constant).is_some();
            let thing = Thing::Map(name);
            if is_there {
                self.loading.has.insert(thing);
            } else {
                self.loading.needs.insert(thing, None);
            }
        }
    }
}

/// Whether the kernel has a type that its description leaves out as a whole.
fn is_left_out(kernel: &Kernel, thing: &Thing) -> bool {
    let Thing::Field(what) = thing else { return false };
    let name = what.split("::").next().unwrap_or(what);
    let name = essential(name.rsplit(' ').next().unwrap_or(name));
    kernel.types.named(name).next().is_none() && kernel.has(Named::Type, name)
}
