// SPDX-License-Identifier: GPL-2.0-only
//! The schedulers inside this program.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Serialize;

use super::error::AttachError;
use super::object::{Description, Prepared};

const OBJECTS: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/schedulers.rs"));

#[derive(Debug, Serialize)]
pub struct Builtin {
    pub name: String,
    #[serde(skip)]
    pub bytes: &'static [u8],
    #[serde(flatten)]
    pub description: Description,
}

/// By name; reads the objects once.
pub fn all() -> &'static [Builtin] {
    static ALL: OnceLock<Vec<Builtin>> = OnceLock::new();
    ALL.get_or_init(|| OBJECTS.iter().map(|(name, bytes)| read(name, bytes)).collect())
}

/// # Errors
/// `UnknownScheduler` with the names there are.
pub fn find(name: &str) -> Result<&'static Builtin, AttachError> {
    all().iter().find(|builtin| builtin.name == name).ok_or_else(|| AttachError::UnknownScheduler {
        name: name.into(),
        known: all().iter().map(|builtin| builtin.name.clone()).collect(),
    })
}

fn read(name: &str, bytes: &'static [u8]) -> Builtin {
    let prepared = Prepared::open(name, bytes, &BTreeMap::new())
        .expect("the schedulers inside this program are readable, a test sees to it");
    Builtin { name: name.into(), bytes, description: prepared.description().clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheduler_describes_itself() {
        assert!(!all().is_empty());
        for builtin in all() {
            let description = &builtin.description;
            assert!(description.sentence.ends_with('.'), "{}", builtin.name);
            let sentences = description
                .parameters
                .iter()
                .map(|parameter| &parameter.sentence)
                .chain(description.statistics.iter().map(|statistic| &statistic.sentence));
            for sentence in sentences {
                assert!(sentence.ends_with('.'), "{}: {sentence:?}", builtin.name);
            }
        }
    }

    #[test]
    fn every_scheduler_is_attached_under_its_name() {
        for builtin in all() {
            let object = Prepared::open(&builtin.name, builtin.bytes, &BTreeMap::new());
            assert_eq!(object.unwrap().ops_name(), builtin.name);
        }
    }

    #[test]
    fn bfs_describes_its_parameters() {
        let parameters = &find("bfs").unwrap().description.parameters;
        let rr = parameters.iter().find(|parameter| parameter.name == "rr_interval_ms").unwrap();
        assert_eq!((rr.min, rr.default, rr.max, rr.unit.as_str()), (1, 6, 1000, "ms"));
        let iso = parameters.iter().find(|parameter| parameter.name == "iso_cpu").unwrap();
        assert_eq!((iso.min, iso.default, iso.max, iso.unit.as_str()), (0, 70, 100, "%"));
    }

    #[test]
    fn bfs_ratios_grow_by_a_tenth_per_nice_level() {
        let bytes = find("bfs").unwrap().bytes;
        let ratios = Prepared::open("bfs", bytes, &BTreeMap::new()).unwrap().array("prio_ratios");
        let at = |nice: i32| ratios[(nice + 20) as usize];
        let published = [
            (-20, 128),
            (-15, 203),
            (-10, 324),
            (-5, 520),
            (0, 836),
            (1, 919),
            (5, 1344),
            (10, 2161),
            (15, 3478),
            (19, 5089),
        ];
        for (nice, ratio) in published {
            assert_eq!(at(nice), ratio, "nice {nice}");
        }
        assert_eq!(ratios.len(), 40);
    }

    #[test]
    fn a_wrong_name_lists_the_right_ones() {
        let message = find("scf").unwrap_err().to_string();
        assert!(message.contains("\"scf\"") && message.contains("bfs"), "{message}");
    }

    #[test]
    fn parameters_are_refused_before_anything_is_loaded() {
        let given = BTreeMap::from([("rr_interval_ms".to_owned(), "0".to_owned())]);
        let error = Prepared::open("bfs", find("bfs").unwrap().bytes, &given).err().unwrap();
        assert_eq!(
            error.to_string(),
            "bfs: rr_interval_ms=0 is out of range; it may be 1..1000 ms"
        );
    }

    #[test]
    fn other_files_are_no_schedulers() {
        let error = Prepared::open("x", b"#!/bin/sh\n", &BTreeMap::new()).err().unwrap();
        assert!(matches!(error, AttachError::NotAScheduler { .. }), "{error}");
    }
}
