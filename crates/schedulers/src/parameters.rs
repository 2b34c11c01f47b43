// SPDX-License-Identifier: GPL-2.0-only
//! The parameters of a scheduler, as the object itself describes them.

use std::collections::BTreeMap;

use ::parameters::{Allowed, Choosable, Owned, Value, chosen, chosen_while_running};
use serde::Serialize;

use bpf::globals::Global;

pub use ::parameters::{ParameterError, pairs};

/// A parameter that an object describes, and its place in the object.
#[derive(Debug, Clone, Serialize)]
#[serde(into = "Shown")]
pub struct Parameter {
    pub about: Owned,
    /// Whether it may be changed while the scheduler runs.
    pub runtime: bool,
    pub place: Global,
}

/// A parameter as users see it: a choice has names and no numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    pub name: String,
    #[serde(flatten)]
    pub allowed: Allowed<i64, String, Vec<String>>,
    /// The default; absent if only the running scheduler was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value<i64, String>>,
    /// The value in the running scheduler; absent if none was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value<i64, String>>,
    pub sentence: String,
    pub runtime: bool,
}

impl Parameter {
    /// The parameter with `value`, read from the running scheduler.
    pub fn running(self, value: i64) -> Shown {
        let value = self.about.allowed.named(value);
        Shown { default: None, value: Some(value), ..self.into() }
    }
}

impl Choosable for Parameter {
    type Number = i64;

    fn name(&self) -> &str {
        &self.about.name
    }

    fn parse(&self, text: &str) -> Result<i64, ParameterError> {
        self.about.parse(text)
    }

    fn is_fixed(&self) -> bool {
        !self.runtime
    }
}

impl From<Parameter> for Shown {
    fn from(parameter: Parameter) -> Self {
        let Owned { name, allowed, default, sentence, .. } = parameter.about;
        let runtime = parameter.runtime;
        Self { name, allowed, default: Some(default), value: None, sentence, runtime }
    }
}

/// The parameter that `global` describes; None if it is not a parameter.
///
/// # Errors
/// `BadDescription` if the tag does not follow the grammar or the default is out of range.
pub fn describe(global: &Global, section: &[u8]) -> Result<Option<Parameter>, ParameterError> {
    let value = one_number(global, section);
    let about = ::parameters::describe(&global.name, &global.tags, global.signed, value)?;
    Ok(about.map(|about| placed(about, global)))
}

/// The parameter that `global` describes in a section in use, whose value is not checked.
///
/// # Errors
/// `BadDescription` if the tag does not follow the grammar.
pub fn describe_used(global: &Global, section: &[u8]) -> Result<Option<Parameter>, ParameterError> {
    let value = one_number(global, section);
    let about = ::parameters::describe_used(&global.name, &global.tags, global.signed, value)?;
    Ok(about.map(|about| placed(about, global)))
}

fn one_number(global: &Global, section: &[u8]) -> Option<i64> {
    (global.count == 1).then(|| global.get(section)).flatten()
}

fn placed(about: Owned, global: &Global) -> Parameter {
    Parameter { about, runtime: global.writable(), place: global.clone() }
}

/// The parameters `known` of the scheduler `name` that are `given`, with their values.
///
/// # Errors
/// The first that is unknown or not allowed.
pub fn choose<'a>(
    name: &str,
    known: &'a [Parameter],
    given: &BTreeMap<String, String>,
) -> Result<Vec<(&'a Parameter, i64)>, ParameterError> {
    chosen(name, known.iter(), texts(given))
}

/// The parameters `known` of the running scheduler `name` that are `given`, with their values.
///
/// # Errors
/// The first that is unknown, not allowed or fixed.
pub fn choose_running<'a>(
    name: &str,
    known: &'a [Parameter],
    given: &BTreeMap<String, String>,
) -> Result<Vec<(&'a Parameter, i64)>, ParameterError> {
    chosen_while_running(name, known.iter(), texts(given))
}

fn texts(given: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    given.iter().map(|(name, value)| (name.as_str(), value.as_str()))
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
            boolean: false,
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
        let (unit, min, max) = ("ms".into(), -5, 1000);
        assert_eq!(parameter.about.allowed, Allowed::Range { unit, min, max });
        assert_eq!(parameter.about.default, Value::Number(6));
        assert_eq!(parameter.about.sentence, "How long | it takes.");
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
        assert_eq!(choose("sd", &known, &given("quota_ms", "-5")).unwrap()[0].1, -5);
        assert_eq!(choose("sd", &known, &given("quota_ms", "1000")).unwrap()[0].1, 1000);
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let known = known();
        let message =
            |name, value| choose("sd", &known, &given(name, value)).unwrap_err().to_string();
        assert_eq!(message("quota", "1"), "sd has no parameter \"quota\"; it has quota_ms");
        assert_eq!(
            message("quota_ms", "fast"),
            "quota_ms=\"fast\" is not a whole number; it may be -5..1000 ms"
        );
        assert_eq!(
            message("quota_ms", "1001"),
            "quota_ms=1001 is out of range; it may be -5..1000 ms"
        );
        assert_eq!(
            choose("sd", &[], &given("x", "1")).unwrap_err().to_string(),
            "sd has no parameter \"x\"; it has none"
        );
        assert_eq!(pairs(["x"]).unwrap_err().to_string(), "\"x\" is not key=value");
        let twice = pairs(["x=1", "x=2"]).unwrap_err();
        assert_eq!(twice.to_string(), "x is given twice");
    }

    #[test]
    fn a_bare_number_has_a_range_without_unit() {
        let bare = describe(&global("parameter | 1 | 0..9 | x."), &[0, 0, 6, 0]).unwrap().unwrap();
        assert_eq!(
            choose("sd", &[bare], &given("quota_ms", "10")).unwrap_err().to_string(),
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
        for (name, position) in [("2.6.8", 0), ("2.6.31", 1), ("sd-0.48", 2)] {
            assert_eq!(choose("sd", &eras, &given("era", name)).unwrap()[0].1, position);
        }
        for wrong in ["0", "2", "2.6", "", "2.6.31 ", "SD-0.48"] {
            assert_eq!(
                choose("sd", &eras, &given("era", wrong)).unwrap_err().to_string(),
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
    fn a_fixed_parameter_is_not_set_in_a_running_scheduler() {
        assert_eq!(
            choose_running("sd", &eras(), &given("era", "2.6.8")).unwrap_err().to_string(),
            "era is fixed once attached: detach the scheduler and attach it with the new value"
        );
        assert_eq!(choose_running("sd", &known(), &given("quota_ms", "7")).unwrap()[0].1, 7);
    }
}
