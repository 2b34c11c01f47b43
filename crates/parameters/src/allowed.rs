// SPDX-License-Identifier: GPL-2.0-only
//! The allowed values of a parameter.

use std::fmt::{self, Display, Formatter};
use std::num::IntErrorKind;

use serde::Serialize;

use crate::error::ParameterError;

/// The type of a parameter's values.
pub trait Number: Copy + PartialOrd + Display + TryFrom<i128> + Into<i128> {}

impl Number for u64 {}
impl Number for i64 {}

/// A range or several names; `Text` and `Names` are constant or owned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Allowed<N = u64, Text = &'static str, Names = &'static [&'static str]> {
    /// A whole number within `min..=max`; the unit is "1" for a bare number.
    Range { unit: Text, min: N, max: N },
    /// One of several names, each of which counts as its position.
    Choices { choices: Names },
}

/// A value as users see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value<N = u64, Text = &'static str> {
    Name(Text),
    Number(N),
}

impl<N: Number, Text: AsRef<str>, Names: AsRef<[Text]>> Allowed<N, Text, Names> {
    /// Parses `text` for the parameter `name`: a number, or a choice, which becomes its position.
    ///
    /// # Errors
    /// `text` is not a whole number, is out of range, or is not a choice.
    pub fn parse(&self, name: &str, text: &str) -> Result<N, ParameterError> {
        let (name, value) = (name.to_owned(), text.to_owned());
        let (min, max) = match self {
            Self::Choices { choices } => {
                let choices = choices.as_ref();
                let found = choices.iter().position(|choice| choice.as_ref() == text);
                return found.map(position).ok_or_else(|| {
                    let choices = choices.iter().map(|choice| choice.as_ref().to_owned()).collect();
                    ParameterError::NoneOf { name, value, choices }
                });
            }
            Self::Range { min, max, .. } => (*min, *max),
        };
        // Wider than any allowed number, so that numbers that are too large or negative are out of
        // range.
        match text.parse::<i128>() {
            Ok(number) => match N::try_from(number) {
                Ok(number) if min <= number && number <= max => Ok(number),
                _ => Err(ParameterError::OutOfRange { name, value, range: self.to_string() }),
            },
            Err(error) => Err(match error.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
                    ParameterError::OutOfRange { name, value, range: self.to_string() }
                }
                _ => ParameterError::NotANumber { name, value, range: self.to_string() },
            }),
        }
    }

    /// The name of `value`; the number itself if it has no name.
    pub fn named(&self, value: N) -> Value<N, Text>
    where
        Text: Clone,
    {
        let Self::Choices { choices } = self else { return Value::Number(value) };
        let position = usize::try_from(value.into()).ok();
        let name = position.and_then(|position| choices.as_ref().get(position));
        name.map_or(Value::Number(value), |name| Value::Name(name.clone()))
    }

    /// The number that stands for `value`; None if that is not allowed.
    pub fn number(&self, value: &Value<N, Text>) -> Option<N> {
        match (self, value) {
            (Self::Range { min, max, .. }, Value::Number(number)) => {
                (min <= number && number <= max).then_some(*number)
            }
            (Self::Choices { choices }, Value::Name(name)) => {
                let mut choices = choices.as_ref().iter();
                choices.position(|choice| choice.as_ref() == name.as_ref()).map(position)
            }
            _ => None,
        }
    }
}

fn position<N: Number>(position: usize) -> N {
    let wide = i128::try_from(position).ok();
    wide.and_then(|wide| N::try_from(wide).ok()).expect("a list has fewer names than any number")
}

/// The range with its unit, or the names.
impl<N: Number, Text: AsRef<str>, Names: AsRef<[Text]>> Display for Allowed<N, Text, Names> {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        match self {
            Self::Range { unit, min, max } => match unit.as_ref() {
                "1" => write!(formatter, "{min}..{max}"),
                unit => write!(formatter, "{min}..{max} {unit}"),
            },
            Self::Choices { choices } => {
                let names: Vec<&str> = choices.as_ref().iter().map(AsRef::as_ref).collect();
                formatter.write_str(&names.join(", "))
            }
        }
    }
}
