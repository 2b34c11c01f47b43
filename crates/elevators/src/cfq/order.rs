// SPDX-License-Identifier: GPL-2.0-only
//! The order in which queues get their slices.

use std::collections::{BTreeMap, BTreeSet};

use super::process::Owner;
use crate::request::Class;

type Place = (Class, i64, u64, Owner);

/// The service tree (cfq_service_tree_add): sorted by class, then by a time that is later for a
/// queue that is entitled to less.
#[derive(Debug, Default)]
pub struct Order {
    places: BTreeSet<Place>,
    by_owner: BTreeMap<Owner, Place>,
    arrivals: u64,
}

impl Order {
    /// Adds a queue: `offset_ns` is how much later it comes than a queue with the longest slice,
    /// `rest_ns` what its last slice had left.
    pub fn add(&mut self, owner: Owner, class: Class, now: u64, offset_ns: i64, rest_ns: i64) {
        let last = self.places.range((Class::Idle, i64::MIN, 0, Owner::Sync(0))..).next_back();
        let key = match class {
            // Idle queues simply take turns.
            Class::Idle => last.map_or(0, |(_, key, ..)| key + 1),
            _ => i64::try_from(now).expect("292 years") + offset_ns - rest_ns,
        };
        let place = (class, key, self.arrivals, owner);
        self.arrivals += 1;
        self.places.insert(place);
        self.by_owner.insert(owner, place);
    }

    pub fn remove(&mut self, owner: Owner) {
        if let Some(place) = self.by_owner.remove(&owner) {
            self.places.remove(&place);
        }
    }

    pub fn first(&self) -> Option<(Class, Owner)> {
        self.places.first().map(|(class, .., owner)| (*class, *owner))
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn of_class(&self, class: Class) -> usize {
        self.places.iter().filter(|place| place.0 == class).count()
    }
}
