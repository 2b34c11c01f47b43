// SPDX-License-Identifier: GPL-2.0-only
//! The schedulers inside this program.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bpf::objects::SCHEDULERS;
use serde::Serialize;

use super::error::AttachError;
use super::object::{Description, Prepared};

/// A scheduler with its description of itself.
#[derive(Debug, Serialize)]
pub struct Described {
    pub name: String,
    #[serde(flatten)]
    pub description: Description,
}

/// All schedulers in the order of their names; reads the objects once.
pub fn all() -> &'static [&'static Described] {
    static ALL: OnceLock<Vec<&Described>> = OnceLock::new();
    ALL.get_or_init(|| (0..SCHEDULERS.len()).map(at).collect())
}

/// The scheduler `name`; reads no other object, and this one once.
///
/// # Errors
/// `UnknownScheduler` with the known names.
pub fn find(name: &str) -> Result<&'static Described, AttachError> {
    position(name).map(at)
}

/// The object of the scheduler `name`, unread.
///
/// # Errors
/// `UnknownScheduler` with the known names.
pub fn bytes(name: &str) -> Result<&'static [u8], AttachError> {
    position(name).map(|position| SCHEDULERS[position].1)
}

fn position(name: &str) -> Result<usize, AttachError> {
    SCHEDULERS.iter().position(|(own, _)| *own == name).ok_or_else(|| {
        AttachError::UnknownScheduler {
            name: name.into(),
            known: SCHEDULERS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        }
    })
}

fn at(position: usize) -> &'static Described {
    static READ: [OnceLock<Described>; SCHEDULERS.len()] = [const { OnceLock::new() }; _];
    let (name, bytes) = SCHEDULERS[position];
    READ[position].get_or_init(|| read(name, bytes))
}

fn read(name: &str, bytes: &'static [u8]) -> Described {
    let prepared = Prepared::open(name, bytes, &BTreeMap::new())
        .expect("the schedulers inside this program are readable, a test sees to it");
    Described { name: name.into(), description: prepared.description().clone() }
}

#[cfg(test)]
mod tests {
    use ::parameters::Value;

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
                .map(|parameter| &parameter.about.sentence)
                .chain(description.statistics.iter().map(|statistic| &statistic.sentence));
            for sentence in sentences {
                assert!(sentence.ends_with('.'), "{}: {sentence:?}", builtin.name);
            }
        }
    }

    #[test]
    fn every_scheduler_is_attached_under_its_name() {
        for builtin in all() {
            let object =
                Prepared::open(&builtin.name, bytes(&builtin.name).unwrap(), &BTreeMap::new());
            assert_eq!(object.unwrap().ops_name(), builtin.name);
        }
    }

    #[test]
    fn a_name_that_the_kernel_refuses_is_told() {
        for (name, shown) in
            [(*b"a b\0\0\0\0\0", r#""a b""#), (*b"a\tb\0\0\0\0\0", r#""a\tb""#), ([0; 8], r#""""#)]
        {
            let builtin = find("bfs").unwrap();
            let mut object =
                Prepared::open("x.bpf.o", bytes(&builtin.name).unwrap(), &BTreeMap::new()).unwrap();
            object.rename(name);
            let message = object.load().err().unwrap().to_string();
            assert!(
                message.starts_with(&format!("the kernel refuses {shown}, the name")),
                "{message}"
            );
        }
    }

    #[test]
    fn bfs_describes_its_parameters() {
        let parameters = &find("bfs").unwrap().description.parameters;
        let about = |name: &str| {
            let found = parameters.iter().map(|parameter| &parameter.about);
            let about = found.clone().find(|about| about.name == name).unwrap();
            (about.allowed.to_string(), about.default.clone())
        };
        assert_eq!(about("rr_interval_ms"), ("1..1000 ms".into(), Value::Number(6)));
        assert_eq!(about("iso_cpu"), ("0..100 %".into(), Value::Number(70)));
    }

    #[test]
    fn bfs_ratios_grow_by_a_tenth_per_nice_level() {
        let bytes = bytes("bfs").unwrap();
        let ratios = Prepared::open("bfs", bytes, &BTreeMap::new()).unwrap().array("prio_ratios");
        let at = |nice: i32| ratios[usize::try_from(nice + 20).unwrap()];
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
        let error = Prepared::open("bfs", bytes("bfs").unwrap(), &given).err().unwrap();
        assert_eq!(
            error.to_string(),
            "bfs: rr_interval_ms=0 is out of range; it may be 1..1000 ms"
        );
    }

    #[test]
    fn other_files_are_not_schedulers() {
        let error = Prepared::open("x", b"#!/bin/sh\n", &BTreeMap::new()).err().unwrap();
        assert!(matches!(error, AttachError::NotAScheduler { .. }), "{error}");
    }
}
