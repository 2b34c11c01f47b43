// SPDX-License-Identifier: GPL-2.0-only
//! What the user of a scheduler may choose, as the object itself describes it.
//!
//! The tag of a number reads `parameter | UNIT | MIN..MAX | SENTENCE`, that of one of several
//! named ways `choice | NAME, NAME | SENTENCE`; see schedulers/include/describe.h.

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use super::globals::Global;

#[derive(Debug, Clone, Serialize)]
#[serde(into = "Shown")]
pub struct Parameter {
    pub name: String,
    /// "1" for a bare number, empty for a choice.
    pub unit: String,
    /// Of a choice the positions of the first and the last name.
    pub min: i64,
    pub max: i64,
    /// What the values are called; empty for a number.
    pub choices: Vec<String>,
    pub default: i64,
    pub sentence: String,
    /// May be changed while the scheduler runs.
    pub runtime: bool,
    pub place: Global,
}

/// A parameter as users see it: a choice has names and no numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    pub name: String,
    #[serde(flatten)]
    pub allowed: Allowed,
    /// Absent where only the running scheduler was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Of the running scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    pub sentence: String,
    pub runtime: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Allowed {
    Range { unit: String, min: i64, max: i64 },
    Choices { choices: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Name(String),
    Number(i64),
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParameterError {
    #[error("there is no parameter {name:?}; {}", known_sentence(known))]
    Unknown { name: String, known: Vec<String> },
    #[error("{name}={value:?} is not a whole number; it may be {range}")]
    NotANumber { name: String, value: String, range: String },
    #[error("{name}={value} is out of range; it may be {range}")]
    OutOfRange { name: String, value: i64, range: String },
    #[error("{name}={value:?} is none of {}", choices.join(", "))]
    NoneOf { name: String, value: String, choices: Vec<String> },
    #[error("{name} is fixed once attached: detach the scheduler and attach it with the new value")]
    Fixed { name: String },
    #[error("{text:?} is not key=value")]
    NotAPair { text: String },
    #[error("{name} is given twice")]
    Twice { name: String },
    #[error("the object describes {name:?} wrongly: {reason}")]
    BadDescription { name: String, reason: String },
}

fn known_sentence(known: &[String]) -> String {
    match known {
        [] => "this scheduler describes none".into(),
        names => format!("it may be {}", names.join(", ")),
    }
}

impl Parameter {
    /// What the user gave as a value.
    fn parse(&self, text: &str) -> Result<i64, ParameterError> {
        let name = self.name.clone();
        if !self.choices.is_empty() {
            let choices = self.choices.clone();
            return match choices.iter().position(|choice| choice == text) {
                Some(position) => Ok(position as i64),
                None => Err(ParameterError::NoneOf { name, value: text.into(), choices }),
            };
        }
        let range = self.range();
        match text.parse() {
            Err(_) => Err(ParameterError::NotANumber { name, value: text.into(), range }),
            Ok(value) if (self.min..=self.max).contains(&value) => Ok(value),
            Ok(value) => Err(ParameterError::OutOfRange { name, value, range }),
        }
    }

    fn range(&self) -> String {
        match self.unit.as_str() {
            "1" => format!("{}..{}", self.min, self.max),
            unit => format!("{}..{} {unit}", self.min, self.max),
        }
    }

    /// The name of `value`; the number itself where it has none.
    fn named(&self, value: i64) -> Value {
        let name = usize::try_from(value).ok().and_then(|position| self.choices.get(position));
        name.map_or(Value::Number(value), |name| Value::Name(name.clone()))
    }

    /// As the running scheduler has it.
    pub fn running(self, value: i64) -> Shown {
        Shown { default: None, value: Some(self.named(value)), ..self.into() }
    }
}

impl From<Parameter> for Shown {
    fn from(parameter: Parameter) -> Self {
        let default = Some(parameter.named(parameter.default));
        let Parameter { name, unit, min, max, choices, sentence, runtime, .. } = parameter;
        let allowed = match choices.is_empty() {
            true => Allowed::Range { unit, min, max },
            false => Allowed::Choices { choices },
        };
        Self { name, allowed, default, value: None, sentence, runtime }
    }
}

/// What `global` describes; None if it is no parameter.
///
/// # Errors
/// `BadDescription` if the tag does not follow the grammar or the default is out of range.
pub fn describe(global: &Global, section: &[u8]) -> Result<Option<Parameter>, ParameterError> {
    let parameter = describe_used(global, section)?;
    match &parameter {
        Some(Parameter { min, max, default, .. }) if !(min..=max).contains(&default) => {
            Err(wrong(global, "its initial value is not within the range"))
        }
        _ => Ok(parameter),
    }
}

/// The same for a section in use: its values are for the running scheduler to answer for.
///
/// # Errors
/// `BadDescription` if the tag does not follow the grammar.
pub fn describe_used(global: &Global, section: &[u8]) -> Result<Option<Parameter>, ParameterError> {
    let found = match (tag(global, "parameter | "), tag(global, "choice | ")) {
        (Some(tag), _) => number(tag),
        (None, Some(tag)) if !global.signed => choice(tag),
        (None, Some(_)) => Err("a choice is an unsigned integer"),
        (None, None) => return Ok(None),
    };
    let (allowed, sentence) = found.map_err(|reason| wrong(global, reason))?;
    let (unit, min, max, choices) = match allowed {
        Allowed::Range { unit, min, max } => (unit, min, max, Vec::new()),
        Allowed::Choices { choices } => (String::new(), 0, choices.len() as i64 - 1, choices),
    };
    let default = (global.count == 1).then(|| global.get(section)).flatten();
    let default = default.ok_or_else(|| wrong(global, "its value is not one number"))?;
    let (name, place) = (global.name.clone(), global.clone());
    let runtime = global.writable();
    Ok(Some(Parameter { name, unit, min, max, choices, default, sentence, runtime, place }))
}

fn tag<'a>(global: &'a Global, kind: &str) -> Option<&'a str> {
    global.tags.iter().find_map(|tag| tag.strip_prefix(kind))
}

fn wrong(global: &Global, reason: &str) -> ParameterError {
    ParameterError::BadDescription { name: global.name.clone(), reason: reason.into() }
}

fn number(tag: &str) -> Result<(Allowed, String), &'static str> {
    let fields: Vec<&str> = tag.splitn(3, " | ").collect();
    let [unit, range, sentence] = fields[..] else {
        return Err("it needs unit, range and sentence");
    };
    let (min, max) = range
        .split_once("..")
        .and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)))
        .ok_or("the range is not MIN..MAX")?;
    Ok((Allowed::Range { unit: unit.into(), min, max }, sentence.into()))
}

fn choice(tag: &str) -> Result<(Allowed, String), &'static str> {
    let (names, sentence) = tag.split_once(" | ").ok_or("it needs names and a sentence")?;
    let choices: Vec<String> = names.split(", ").map(str::to_owned).collect();
    let plain = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    if !choices.iter().all(plain) {
        return Err("a name may only have letters, digits, '.', '_' and '-'");
    }
    if choices.len() < 2 || (1..choices.len()).any(|at| choices[..at].contains(&choices[at])) {
        return Err("it needs two or more different names");
    }
    Ok((Allowed::Choices { choices }, sentence.into()))
}

/// Matches what was given with what is known.
///
/// # Errors
/// `Unknown`, `NotANumber`, `OutOfRange` or `NoneOf` for the first that is wrong.
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
    Ok((parameter, parameter.parse(value)?))
}

/// The same for a scheduler that is running.
///
/// # Errors
/// As `choose`, and `Fixed`.
pub fn choose_running<'a>(
    known: &'a [Parameter],
    given: &BTreeMap<String, String>,
) -> Result<Vec<(&'a Parameter, i64)>, ParameterError> {
    let chosen = choose(known, given)?;
    match chosen.iter().find(|(parameter, _)| !parameter.runtime) {
        Some((fixed, _)) => Err(ParameterError::Fixed { name: fixed.name.clone() }),
        None => Ok(chosen),
    }
}

/// `["a=1", "b=2"]` as a map.
///
/// # Errors
/// `NotAPair` for the first text without "=", `Twice` for a name that comes again.
pub fn pairs(texts: &[String]) -> Result<BTreeMap<String, String>, ParameterError> {
    let mut map = BTreeMap::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=') else {
            return Err(ParameterError::NotAPair { text: text.clone() });
        };
        if map.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(ParameterError::Twice { name: name.into() });
        }
    }
    Ok(map)
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
        let twice = pairs(&["x=1".into(), "x=2".into()]).unwrap_err();
        assert_eq!(twice.to_string(), "x is given twice");
    }

    #[test]
    fn a_bare_number_has_a_range_without_unit() {
        let bare = describe(&global("parameter | 1 | 0..9 | x."), &[0, 0, 6, 0]).unwrap().unwrap();
        assert_eq!(
            choose(&[bare], &given("quota_ms", "10")).unwrap_err().to_string(),
            "quota_ms=10 is out of range; it may be 0..9"
        );
    }

    fn era(tag: &str) -> Global {
        Global {
            name: "era".into(),
            section: ".rodata".into(),
            offset: 0,
            width: 4,
            signed: false,
            ..global(tag)
        }
    }

    fn eras() -> Vec<Parameter> {
        let era = era("choice | 2.6.8, 2.6.31, sd-0.48 | Which release | to follow.");
        describe(&era, &[1, 0, 0, 0]).unwrap().into_iter().collect()
    }

    #[test]
    fn a_choice_is_known_by_its_names_only() {
        let eras = eras();
        let shown = serde_json::to_value(&eras[0]).unwrap();
        let expected = serde_json::json!({
            "name": "era",
            "choices": ["2.6.8", "2.6.31", "sd-0.48"],
            "default": "2.6.31",
            "sentence": "Which release | to follow.",
            "runtime": false,
        });
        assert_eq!(shown, expected);
        for (position, name) in eras[0].choices.iter().enumerate() {
            assert_eq!(choose(&eras, &given("era", name)).unwrap()[0].1, position as i64);
        }
        for wrong in ["0", "2", "2.6", "", "2.6.31 ", "SD-0.48"] {
            assert_eq!(
                choose(&eras, &given("era", wrong)).unwrap_err().to_string(),
                format!("era={wrong:?} is none of 2.6.8, 2.6.31, sd-0.48")
            );
        }
    }

    #[test]
    fn a_number_is_shown_with_its_range() {
        let shown = serde_json::to_value(&known()[0]).unwrap();
        let expected = serde_json::json!({
            "name": "quota_ms",
            "unit": "ms",
            "min": -5,
            "max": 1000,
            "default": 6,
            "sentence": "How long | it takes.",
            "runtime": true,
        });
        assert_eq!(shown, expected);
    }

    #[test]
    fn refuses_choices_outside_the_grammar() {
        let wrong = [
            "choice | pb",
            "choice | pb | x",
            "choice | pb, pb | x",
            "choice | pb,eb | x",
            "choice | pb, | x",
            "choice | pb, e=b | x",
        ];
        for tag in wrong {
            let error = describe(&era(tag), &[0; 4]).unwrap_err();
            assert!(matches!(error, ParameterError::BadDescription { .. }), "{tag}: {error}");
        }
        let signed = Global { signed: true, ..era("choice | pb, eb | x") };
        assert!(describe(&signed, &[0; 4]).is_err());
        assert!(describe(&era("choice | pb, eb | x"), &[2, 0, 0, 0]).is_err());
    }

    #[test]
    fn a_running_scheduler_is_shown_with_its_value_even_outside_the_range() {
        let used = describe_used(&era("choice | pb, eb | x."), &[7, 0, 0, 0]).unwrap().unwrap();
        let value = |value| used.clone().running(value).value.unwrap();
        assert_eq!(value(1), Value::Name("eb".into()));
        assert_eq!(value(7), Value::Number(7));
        assert_eq!(used.clone().running(1).default, None);
    }

    #[test]
    fn what_is_fixed_is_not_set_in_a_running_scheduler() {
        assert_eq!(
            choose_running(&eras(), &given("era", "2.6.8")).unwrap_err().to_string(),
            "era is fixed once attached: detach the scheduler and attach it with the new value"
        );
        assert_eq!(choose_running(&known(), &given("quota_ms", "7")).unwrap()[0].1, 7);
    }
}
