// SPDX-License-Identifier: GPL-2.0-only
//! How parameters describe themselves, and how they are chosen by name.

use serde::{Serialize, Serializer};
use thiserror::Error;

/// What a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Allowed {
    /// A whole number within `min..=max`; the unit is "1" for a bare number.
    Range { unit: &'static str, min: u64, max: u64, default: u64 },
    /// One of several names.
    Choices { choices: &'static [&'static str], default: &'static str },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Parameter {
    pub name: &'static str,
    #[serde(flatten)]
    pub allowed: Allowed,
    pub sentence: &'static str,
    /// The variants that have it; empty for all.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub variants: &'static [&'static str],
}

impl Parameter {
    pub const fn number(
        name: &'static str,
        unit: &'static str,
        min: u64,
        max: u64,
        default: u64,
        sentence: &'static str,
    ) -> Self {
        Self { name, allowed: Allowed::Range { unit, min, max, default }, sentence, variants: &[] }
    }

    pub const fn choice(
        name: &'static str,
        choices: &'static [&'static str],
        default: &'static str,
        sentence: &'static str,
    ) -> Self {
        Self { name, allowed: Allowed::Choices { choices, default }, sentence, variants: &[] }
    }

    /// The same, for these variants only.
    pub const fn only(self, variants: &'static [&'static str]) -> Self {
        Self { variants, ..self }
    }

    /// A choice counts as the position of its name.
    fn default(&self) -> u64 {
        match self.allowed {
            Allowed::Range { default, .. } => default,
            Allowed::Choices { choices, default } => choices
                .iter()
                .position(|choice| *choice == default)
                .expect("the default is a choice")
                as u64,
        }
    }

    /// A number, or the position of a choice.
    ///
    /// # Errors
    /// It is out of range, or no choice.
    pub fn parse(&self, text: &str) -> Result<u64, ParameterError> {
        let name = self.name;
        match self.allowed {
            Allowed::Choices { choices, .. } => {
                let found = choices.iter().position(|choice| *choice == text);
                found.map(|position| position as u64).ok_or_else(|| ParameterError::NoneOf {
                    name,
                    choices,
                    value: text.into(),
                })
            }
            Allowed::Range { unit, min, max, .. } => match text.parse() {
                Ok(value) if (min..=max).contains(&value) => Ok(value),
                _ => Err(ParameterError::OutOfRange {
                    name,
                    range: range(unit, min, max),
                    value: text.into(),
                }),
            },
        }
    }
}

fn range(unit: &str, min: u64, max: u64) -> String {
    match unit {
        "1" => format!("{min}..{max}"),
        unit => format!("{min}..{max} {unit}"),
    }
}

/// An elevator or a disk, as users see it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    pub name: &'static str,
    pub sentence: &'static str,
    /// In groups, some of which are shared; one list for users.
    #[serde(serialize_with = "as_one_list")]
    pub parameters: &'static [&'static [Parameter]],
}

fn as_one_list<S: Serializer>(
    groups: &&'static [&'static [Parameter]],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(groups.iter().flat_map(|group| group.iter()))
}

impl Description {
    pub fn all_parameters(&self) -> impl Iterator<Item = &'static Parameter> + Clone {
        self.parameters.iter().flat_map(|group| group.iter())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParameterError {
    #[error("{owner} has no parameter {name:?}; it has {known}")]
    Unknown { owner: String, name: String, known: String },
    #[error("{name} must be a whole number of {range}, not {value:?}")]
    OutOfRange { name: &'static str, range: String, value: String },
    #[error("{name} must be one of {}, not {value:?}", choices.join(", "))]
    NoneOf { name: &'static str, choices: &'static [&'static str], value: String },
    #[error("{name} is for variant={} only, not for variant={variant}", variants.join(" or "))]
    OtherVariant { name: &'static str, variants: &'static [&'static str], variant: &'static str },
    #[error("{text:?} is not key=value")]
    NotAPair { text: String },
    #[error("{name} is given twice")]
    Twice { name: &'static str },
}

/// What `pairs` of `key=value` give to `parameters`, of `owner`.
///
/// # Errors
/// The first pair that is none, names no parameter, is out of range or given twice.
pub fn assigned<'a>(
    owner: &str,
    parameters: impl Iterator<Item = &'static Parameter> + Clone,
    pairs: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<(&'static Parameter, u64)>, ParameterError> {
    let mut given: Vec<(&Parameter, u64)> = Vec::new();
    for pair in pairs {
        let (name, value) =
            pair.split_once('=').ok_or_else(|| ParameterError::NotAPair { text: pair.into() })?;
        let parameter = parameters
            .clone()
            .find(|parameter| parameter.name == name)
            .ok_or_else(|| unknown(owner, name, parameters.clone()))?;
        if given.iter().any(|(other, _)| *other == parameter) {
            return Err(ParameterError::Twice { name: parameter.name });
        }
        given.push((parameter, parameter.parse(value)?));
    }
    Ok(given)
}

fn unknown(
    owner: &str,
    name: &str,
    parameters: impl Iterator<Item = &'static Parameter>,
) -> ParameterError {
    let known: Vec<_> = parameters.map(|parameter| parameter.name).collect();
    let known = if known.is_empty() { "none".into() } else { known.join(", ") };
    ParameterError::Unknown { owner: owner.into(), name: name.into(), known }
}

/// The values of all parameters of one elevator or disk.
#[derive(Debug, Clone)]
pub struct Settings {
    pub description: &'static Description,
    values: Vec<u64>,
}

impl Settings {
    /// The defaults.
    pub fn new(description: &'static Description) -> Self {
        let values = description.all_parameters().map(Parameter::default).collect();
        Self { description, values }
    }

    /// The defaults but for `pairs` of `key=value`.
    ///
    /// # Errors
    /// Those of [`Settings::change`].
    pub fn parse<'a>(
        description: &'static Description,
        pairs: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ParameterError> {
        Self::new(description).change(pairs)
    }

    /// The same with other values, as a preset has them.
    ///
    /// # Panics
    /// If a name or a value is not allowed.
    pub fn with(self, values: &[(&str, &str)]) -> Self {
        let pairs: Vec<_> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let changed = self.change(pairs.iter().map(String::as_str));
        changed.unwrap_or_else(|error| panic!("{error}"))
    }

    /// These, but for `pairs` of `key=value`.
    ///
    /// # Errors
    /// The first pair that is none, names no parameter, is out of range, given twice, or for another variant.
    pub fn change<'a>(
        mut self,
        pairs: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ParameterError> {
        let given = assigned(self.description.name, self.description.all_parameters(), pairs)?;
        for (parameter, value) in &given {
            let index = self.find(parameter.name).expect("it is one of them");
            self.values[index] = *value;
        }
        given.into_iter().try_for_each(|(parameter, _)| self.has_variant(parameter))?;
        Ok(self)
    }

    /// One number, or the position of a choice.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn get(&self, name: &str) -> u64 {
        self.find(name)
            .map(|index| self.values[index])
            .unwrap_or_else(|| panic!("no parameter {name}"))
    }

    /// Milliseconds in nanoseconds.
    pub fn ns(&self, name: &str) -> u64 {
        self.get(name) * crate::MS
    }

    /// The name of what was chosen; empty if there is no such choice.
    pub fn choice(&self, name: &str) -> &'static str {
        let Some(index) = self.find(name) else { return "" };
        match self.description.all_parameters().nth(index).map(|parameter| parameter.allowed) {
            Some(Allowed::Choices { choices, .. }) => choices[self.values[index] as usize],
            _ => "",
        }
    }

    fn has_variant(&self, parameter: &'static Parameter) -> Result<(), ParameterError> {
        let variant = self.choice("variant");
        if parameter.variants.is_empty() || parameter.variants.contains(&variant) {
            return Ok(());
        }
        Err(ParameterError::OtherVariant {
            name: parameter.name,
            variants: parameter.variants,
            variant,
        })
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.description.all_parameters().position(|parameter| parameter.name == name)
    }
}
