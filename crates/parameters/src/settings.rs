// SPDX-License-Identifier: GPL-2.0-only
//! All parameters of one elevator or disk with their values.

use serde::{Serialize, Serializer};

use crate::allowed::Value;
use crate::error::ParameterError;
use crate::given::assigned;
use crate::parameter::Parameter;

/// An elevator or a disk, as users see it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    pub name: &'static str,
    pub sentence: &'static str,
    /// All parameters in groups, some of which are shared; one list for users.
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

/// The values of all parameters of one elevator or disk.
#[derive(Debug, Clone)]
pub struct Settings {
    pub description: &'static Description,
    values: Vec<u64>,
}

impl Settings {
    /// The defaults.
    pub fn new(description: &'static Description) -> Self {
        let default = |parameter: &Parameter| parameter.allowed.number(&parameter.default);
        let values = description
            .all_parameters()
            .map(|parameter| default(parameter).expect("the default is allowed"))
            .collect();
        Self { description, values }
    }

    /// The defaults, changed by `pairs` of `key=value`.
    ///
    /// # Errors
    /// The same as for [`Settings::change`].
    pub fn parse<'a>(
        description: &'static Description,
        pairs: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ParameterError> {
        Self::new(description).change(pairs)
    }

    /// These settings, changed by the `values` of a preset.
    ///
    /// # Panics
    /// If a name or a value is not allowed.
    pub fn with(self, values: &[(&str, &str)]) -> Self {
        let pairs: Vec<_> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let changed = self.change(pairs.iter().map(String::as_str));
        changed.unwrap_or_else(|error| panic!("{error}"))
    }

    /// These settings, changed by `pairs` of `key=value`.
    ///
    /// # Errors
    /// The first pair that is not key=value, names no parameter, is not allowed, given twice, or
    /// for another variant.
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

    /// The value of a number, or the position of a choice.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn get(&self, name: &str) -> u64 {
        self.find(name)
            .map(|index| self.values[index])
            .unwrap_or_else(|| panic!("no parameter {name}"))
    }

    /// The value of a number that counts things in memory.
    ///
    /// # Panics
    /// If there is no such parameter, or its value does not fit a usize.
    pub fn count(&self, name: &str) -> usize {
        usize::try_from(self.get(name)).unwrap_or_else(|_| panic!("{name} is more than memory has"))
    }

    /// The value of a time in milliseconds, in nanoseconds.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn ns(&self, name: &str) -> u64 {
        self.get(name) * 1_000_000
    }

    /// The name of the choice; empty if `name` is not a choice.
    pub fn choice(&self, name: &str) -> &'static str {
        let Some(index) = self.find(name) else { return "" };
        let mut parameters = self.description.all_parameters();
        let named =
            parameters.nth(index).map(|parameter| parameter.allowed.named(self.values[index]));
        match named {
            Some(Value::Name(name)) => name,
            _ => "",
        }
    }

    fn has_variant(&self, parameter: &Parameter) -> Result<(), ParameterError> {
        let variant = self.choice("variant");
        if parameter.variants.is_empty() || parameter.variants.contains(&variant) {
            return Ok(());
        }
        Err(ParameterError::OtherVariant {
            name: parameter.name.into(),
            variants: parameter.variants.iter().map(|&variant| variant.into()).collect(),
            variant: variant.into(),
        })
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.description.all_parameters().position(|parameter| parameter.name == name)
    }
}
