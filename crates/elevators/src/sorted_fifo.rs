// SPDX-License-Identifier: GPL-2.0-only
//! Requests in two orders: by sector, and first come first served with an expiry (sort_list and fifo_list of
//! deadline-iosched.c).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap as HashMap;

use crate::elevator::not_waiting;
use crate::request::{Id, Request};

/// Orders by sector; requests with the same first sector by arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub sector: u64,
    arrival: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub request: Request,
    /// When it should have been dispatched, in nanoseconds.
    pub expires: u64,
    place: u64,
}

#[derive(Debug, Default)]
pub struct SortedFifo {
    sorted: BTreeMap<Key, Entry>,
    fifo: BTreeMap<u64, Key>,
    keys: HashMap<Id, Key>,
    arrivals: u64,
}

impl SortedFifo {
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub fn insert(&mut self, request: Request, expires: u64) -> Key {
        let place = self.arrivals;
        self.arrivals += 1;
        let key = Key { sector: request.first, arrival: place };
        self.put(key, Entry { request, expires, place });
        key
    }

    pub fn take(&mut self, key: Key) -> Entry {
        let entry = self.sorted.remove(&key).expect("a key is of a request that waits");
        self.fifo.remove(&entry.place);
        self.keys.remove(&entry.request.id);
        entry
    }

    pub fn get(&self, key: Key) -> &Entry {
        &self.sorted[&key]
    }

    pub fn key(&self, id: Id) -> Option<Key> {
        self.keys.get(&id).copied()
    }

    pub fn contains(&self, id: Id) -> bool {
        self.keys.contains_key(&id)
    }

    /// The request that came first.
    pub fn head(&self) -> Option<Key> {
        self.fifo.first_key_value().map(|(_, key)| *key)
    }

    /// The request that came first, if its expiry has passed.
    pub fn expired(&self, now: u64) -> Option<Key> {
        self.head().filter(|key| self.sorted[key].expires <= now)
    }

    pub fn lowest(&self) -> Option<Key> {
        self.sorted.first_key_value().map(|(key, _)| *key)
    }

    /// The next request in sort order.
    pub fn after(&self, key: Key) -> Option<Key> {
        let above = Key { arrival: key.arrival + 1, ..key };
        self.sorted.range(above..).next().map(|(key, _)| *key)
    }

    /// The request that begins at `sector`.
    pub fn at(&self, sector: u64) -> Option<Key> {
        self.sorted
            .range(Key { sector, arrival: 0 }..)
            .next()
            .map(|(key, _)| *key)
            .filter(|key| key.sector == sector)
    }

    /// The nearest request ahead of sector `last`, or behind it if that is at most `back_max`
    /// sectors away and nearer even when its distance counts `penalty` times; the lowest if there
    /// is neither (Linux 2.6.12, as_choose_req; later cfq_choose_req).
    pub fn nearest(&self, last: u64, back_max: u64, penalty: u64) -> Option<Key> {
        let here = Key { sector: last, arrival: 0 };
        let ahead = self.sorted.range(here..).next().map(|(key, _)| *key);
        let behind = self.sorted.range(..here).next_back().map(|(key, _)| *key);
        let behind = behind.filter(|key| last - key.sector <= back_max);
        match (ahead, behind) {
            (Some(ahead), Some(behind))
                if penalty * (last - behind.sector) < ahead.sector - last =>
            {
                Some(behind)
            }
            (Some(ahead), _) => Some(ahead),
            (None, Some(behind)) => Some(behind),
            (None, None) => self.lowest(),
        }
    }

    /// Notes that `id` is now as large as `grown`; it keeps its place.
    pub fn extend(&mut self, id: Id, grown: &Request) -> Key {
        let old = self.key(id).unwrap_or_else(|| panic!("{}", not_waiting(id)));
        let mut entry = self.take(old);
        entry.request.first = grown.first;
        entry.request.sectors = grown.sectors;
        let key = Key { sector: grown.first, ..old };
        self.put(key, entry);
        key
    }

    /// Notes that `gone` is now a part of `survivor`, which takes the better of both places.
    pub fn join(&mut self, survivor: Id, gone: Id) {
        let gone = self.key(gone).unwrap_or_else(|| panic!("{}", not_waiting(gone)));
        let gone = self.take(gone);
        let key = self.key(survivor).unwrap_or_else(|| panic!("{}", not_waiting(survivor)));
        let mut entry = self.take(key);
        if (gone.expires, gone.place) < (entry.expires, entry.place) {
            (entry.expires, entry.place) = (gone.expires, gone.place);
        }
        self.put(key, entry);
    }

    fn put(&mut self, key: Key, entry: Entry) {
        self.fifo.insert(entry.place, key);
        self.keys.insert(entry.request.id, key);
        self.sorted.insert(key, entry);
    }
}
