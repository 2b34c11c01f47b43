// SPDX-License-Identifier: GPL-2.0-only

use std::collections::{BTreeMap, BTreeSet};

use super::thing::{Site, Thing};

/// What a kernel says to an object.
#[derive(Debug, Default)]
pub struct Loading {
    /// What it lacks and the object cannot do without, with the first place that comes to it.
    pub needs: BTreeMap<Thing, Option<Site>>,
    /// What it lacks and the object can only do without as long as its constants are those that it was compiled with;
    /// the program that loads it may set others.
    pub depends: BTreeMap<Thing, Option<Site>>,
    /// What it lacks and the object does without.
    pub lacks: BTreeSet<Thing>,
    /// What it has of what the object asks for.
    pub has: BTreeSet<Thing>,
    /// What its description says nothing of.
    pub unknown: BTreeSet<Thing>,
    /// Questions that make no sense.
    pub wrong: BTreeSet<String>,
}

impl Loading {
    pub fn is_refused(&self) -> bool {
        !self.needs.is_empty() || !self.wrong.is_empty()
    }
}
