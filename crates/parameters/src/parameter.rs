// SPDX-License-Identifier: GPL-2.0-only
//! A parameter: its name, allowed values, default and purpose.

use serde::Serialize;

use crate::allowed::{Allowed, Number, Value};
use crate::error::ParameterError;
use crate::given::Choosable;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Parameter<N = u64, Text = &'static str, Names = &'static [&'static str]> {
    pub name: Text,
    #[serde(flatten)]
    pub allowed: Allowed<N, Text, Names>,
    pub default: Value<N, Text>,
    pub sentence: Text,
    /// The variants that have it; empty for all.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub variants: &'static [&'static str],
}

/// A parameter that is described at run time, and may be negative.
pub type Owned = Parameter<i64, String, Vec<String>>;

impl Parameter {
    /// # Panics
    /// If the default is out of range.
    pub const fn number(
        name: &'static str,
        unit: &'static str,
        min: u64,
        max: u64,
        default: u64,
        sentence: &'static str,
    ) -> Self {
        assert!(min <= default && default <= max, "the default is within the range");
        let (allowed, default) = (Allowed::Range { unit, min, max }, Value::Number(default));
        Self { name, allowed, default, sentence, variants: &[] }
    }

    /// # Panics
    /// If the default is not one of the choices.
    pub const fn choice(
        name: &'static str,
        choices: &'static [&'static str],
        default: &'static str,
        sentence: &'static str,
    ) -> Self {
        assert!(has(choices, default), "the default is a choice");
        let (allowed, default) = (Allowed::Choices { choices }, Value::Name(default));
        Self { name, allowed, default, sentence, variants: &[] }
    }

    /// This parameter for these variants only.
    pub const fn only(self, variants: &'static [&'static str]) -> Self {
        Self { variants, ..self }
    }
}

const fn has(choices: &[&str], wanted: &str) -> bool {
    let mut rest = choices;
    while let [first, others @ ..] = rest {
        if are_equal(first.as_bytes(), wanted.as_bytes()) {
            return true;
        }
        rest = others;
    }
    false
}

const fn are_equal(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([first, ones @ ..], [second, others @ ..]) = (one, other) {
        if *first != *second {
            return false;
        }
        (one, other) = (ones, others);
    }
    one.is_empty() && other.is_empty()
}

impl<N: Number, Text: AsRef<str>, Names: AsRef<[Text]>> Choosable for Parameter<N, Text, Names> {
    type Number = N;

    fn name(&self) -> &str {
        self.name.as_ref()
    }

    fn parse(&self, text: &str) -> Result<N, ParameterError> {
        self.allowed.parse(self.name.as_ref(), text)
    }
}
