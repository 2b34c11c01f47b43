// SPDX-License-Identifier: GPL-2.0-only
//! The numbers of a scheduler that its user may choose, as the object itself describes them.
//!
//! The tag of a parameter reads `parameter | UNIT | MIN..MAX | SENTENCE`; see
//! schedulers/include/describe.h.

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use super::globals::Global;

#[derive(Debug, Clone, Serialize)]
pub struct Parameter {
    pub name: String,
    /// "1" for a bare number.
    pub unit: String,
    pub min: i64,
    pub max: i64,
    pub default: i64,
    pub sentence: String,
    /// May be changed while the scheduler runs.
    pub runtime: bool,
    #[serde(skip)]
    pub place: Global,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParameterError {
    #[error("there is no parameter {name:?}; {}", known_sentence(known))]
    Unknown { name: String, known: Vec<String> },
    #[error("{name}={value:?} is not a whole number; it may be {min}..{max} {unit}")]
    NotANumber { name: String, value: String, min: i64, max: i64, unit: String },
    #[error("{name}={value} is out of range; it may be {min}..{max} {unit}")]
    OutOfRange { name: String, value: i64, min: i64, max: i64, unit: String },
    #[error("{text:?} is not key=value")]
    NotAPair { text: String },
    #[error("the object describes {name:?} wrongly: {reason}")]
    BadDescription { name: String, reason: String },
}

fn known_sentence(known: &[String]) -> String {
    match known {
        [] => "this scheduler describes none".into(),
        names => format!("it may be {}", names.join(", ")),
    }
}

/// What `global` describes; None if it is no parameter.
///
/// # Errors
/// `BadDescription` if the tag does not follow the grammar or the default is out of range.
pub fn describe(global: &Global, section: &[u8]) -> Result<Option<Parameter>, ParameterError> {
    let Some(fields) = global.tags.iter().find_map(|tag| tag.strip_prefix("parameter | ")) else {
        return Ok(None);
    };
    let wrong = |reason: &str| ParameterError::BadDescription {
        name: global.name.clone(),
        reason: reason.into(),
    };
    let fields: Vec<&str> = fields.splitn(3, " | ").collect();
    let [unit, range, sentence] = fields[..] else {
        return Err(wrong("it needs unit, range and sentence"));
    };
    let (min, max) = range
        .split_once("..")
        .and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)))
        .ok_or_else(|| wrong("the range is not MIN..MAX"))?;
    let default = global.get(section).ok_or_else(|| wrong("its initial value is unreadable"))?;
    if global.count != 1 || !(min..=max).contains(&default) {
        return Err(wrong("its initial value is not one number within the range"));
    }
    Ok(Some(Parameter {
        name: global.name.clone(),
        unit: unit.into(),
        min,
        max,
        default,
        sentence: sentence.into(),
        runtime: global.writable(),
        place: global.clone(),
    }))
}

/// Matches what was given with what is known.
///
/// # Errors
/// `Unknown`, `NotANumber` or `OutOfRange` for the first that is wrong.
pub fn choose<'a>(
    known: &'a [Parameter],
    given: &BTreeMap<String, String>,
) -> Result<Vec<(&'a Parameter, i64)>, ParameterError> {
    given.iter().map(|(name, value)| choose_one(known, name, value)).collect()
}

fn choose_one<'a>(
    known: &'a [Parameter],
    name: &str,
    value: &str,
) -> Result<(&'a Parameter, i64), ParameterError> {
    let Some(parameter) = known.iter().find(|parameter| parameter.name == name) else {
        let known = known.iter().map(|parameter| parameter.name.clone()).collect();
        return Err(ParameterError::Unknown { name: name.into(), known });
    };
    let (min, max, unit) = (parameter.min, parameter.max, parameter.unit.clone());
    let name = name.to_owned();
    match value.parse() {
        Err(_) => Err(ParameterError::NotANumber { name, value: value.into(), min, max, unit }),
        Ok(value) if (min..=max).contains(&value) => Ok((parameter, value)),
        Ok(value) => Err(ParameterError::OutOfRange { name, value, min, max, unit }),
    }
}

/// `["a=1", "b=2"]` as a map.
///
/// # Errors
/// `NotAPair` for the first text without "=".
pub fn pairs(texts: &[String]) -> Result<BTreeMap<String, String>, ParameterError> {
    texts
        .iter()
        .map(|text| match text.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(ParameterError::NotAPair { text: text.clone() }),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(tag: &str) -> Global {
        Global {
            name: "quota_ms".into(),
            section: ".data".into(),
            offset: 2,
            width: 2,
            count: 1,
            signed: true,
            tags: vec![tag.into()],
        }
    }

    fn known() -> Vec<Parameter> {
        let global = global("parameter | ms | -5..1000 | How long | it takes.");
        describe(&global, &[9, 9, 6, 0]).unwrap().into_iter().collect()
    }

    fn given(name: &str, value: &str) -> BTreeMap<String, String> {
        BTreeMap::from([(name.into(), value.into())])
    }

    #[test]
    fn reads_the_tag_and_the_initial_value() {
        let parameter = &known()[0];
        assert_eq!((parameter.min, parameter.max, parameter.default), (-5, 1000, 6));
        assert_eq!(parameter.unit, "ms");
        assert_eq!(parameter.sentence, "How long | it takes.");
        assert!(parameter.runtime);
    }

    #[test]
    fn refuses_tags_outside_the_grammar() {
        for tag in ["parameter | ms", "parameter | ms | 1-2 | x", "parameter | ms | 7..9 | x"] {
            let error = describe(&global(tag), &[0, 0, 6, 0]).unwrap_err();
            assert!(matches!(error, ParameterError::BadDescription { .. }), "{tag}: {error}");
        }
        assert!(describe(&global("statistic | x"), &[0, 0, 6, 0]).unwrap().is_none());
    }

    #[test]
    fn takes_numbers_within_the_range() {
        let known = known();
        assert_eq!(choose(&known, &given("quota_ms", "-5")).unwrap()[0].1, -5);
        assert_eq!(choose(&known, &given("quota_ms", "1000")).unwrap()[0].1, 1000);
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let known = known();
        let message = |name, value| choose(&known, &given(name, value)).unwrap_err().to_string();
        assert_eq!(message("quota", "1"), "there is no parameter \"quota\"; it may be quota_ms");
        assert_eq!(
            message("quota_ms", "fast"),
            "quota_ms=\"fast\" is not a whole number; it may be -5..1000 ms"
        );
        assert_eq!(
            message("quota_ms", "1001"),
            "quota_ms=1001 is out of range; it may be -5..1000 ms"
        );
        assert_eq!(
            choose(&[], &given("x", "1")).unwrap_err().to_string(),
            "there is no parameter \"x\"; this scheduler describes none"
        );
        assert_eq!(pairs(&["x".into()]).unwrap_err().to_string(), "\"x\" is not key=value");
    }
}
