// SPDX-License-Identifier: GPL-2.0-only
//! Matches the parameters that users give with the known ones.

use std::collections::BTreeMap;

use crate::error::ParameterError;

/// A parameter that has a name and can be given a value.
pub trait Choosable {
    type Number;

    fn name(&self) -> &str;

    /// Parses a number, or a choice, which becomes its position.
    ///
    /// # Errors
    /// `text` is not allowed.
    fn parse(&self, text: &str) -> Result<Self::Number, ParameterError>;

    /// Whether its value cannot change while its owner runs.
    fn is_fixed(&self) -> bool {
        false
    }
}

/// The parameters `known` of `owner` that are `given` by name, with their values, in the order of
/// `given`.
///
/// # Errors
/// The first that does not name a parameter, is not allowed or given twice.
pub fn chosen<'a, 'b, P: Choosable + 'a>(
    owner: &str,
    known: impl Iterator<Item = &'a P> + Clone,
    given: impl IntoIterator<Item = (&'b str, &'b str)>,
) -> Result<Vec<(&'a P, P::Number)>, ParameterError> {
    matched(owner, known, given.into_iter().map(Ok))
}

fn matched<'a, 'b, P: Choosable + 'a>(
    owner: &str,
    known: impl Iterator<Item = &'a P> + Clone,
    given: impl Iterator<Item = Result<(&'b str, &'b str), ParameterError>>,
) -> Result<Vec<(&'a P, P::Number)>, ParameterError> {
    let mut matched: Vec<(&P, P::Number)> = Vec::new();
    for pair in given {
        let (name, value) = pair?;
        let parameter = known
            .clone()
            .find(|parameter| parameter.name() == name)
            .ok_or_else(|| unknown(owner, name, known.clone()))?;
        if matched.iter().any(|(other, _)| other.name() == name) {
            return Err(ParameterError::Twice { name: name.into() });
        }
        matched.push((parameter, parameter.parse(value)?));
    }
    Ok(matched)
}

/// Values as of [`chosen`] for an `owner` that is running.
///
/// # Errors
/// The errors of [`chosen`], or else the first parameter that is fixed.
pub fn chosen_while_running<'a, 'b, P: Choosable + 'a>(
    owner: &str,
    known: impl Iterator<Item = &'a P> + Clone,
    given: impl IntoIterator<Item = (&'b str, &'b str)>,
) -> Result<Vec<(&'a P, P::Number)>, ParameterError> {
    let chosen = chosen(owner, known, given)?;
    match chosen.iter().find(|(parameter, _)| parameter.is_fixed()) {
        Some((fixed, _)) => Err(ParameterError::Fixed { name: fixed.name().into() }),
        None => Ok(chosen),
    }
}

/// The parameters `known` of `owner` that texts of `key=value` give, with their values, in the
/// order of the texts.
///
/// # Errors
/// The first that is not a pair, does not name a parameter, is not allowed or given twice.
pub fn assigned<'a, 'b, P: Choosable + 'a>(
    owner: &str,
    known: impl Iterator<Item = &'a P> + Clone,
    texts: impl IntoIterator<Item = &'b str>,
) -> Result<Vec<(&'a P, P::Number)>, ParameterError> {
    matched(owner, known, texts.into_iter().map(pair))
}

/// Converts `["a=1", "b=2"]` to a map.
///
/// # Errors
/// The first text that is not a pair, or a name that comes again.
pub fn pairs<Text: AsRef<str>>(
    texts: impl IntoIterator<Item = Text>,
) -> Result<BTreeMap<String, String>, ParameterError> {
    let mut map = BTreeMap::new();
    for text in texts {
        let (name, value) = pair(text.as_ref())?;
        if map.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(ParameterError::Twice { name: name.into() });
        }
    }
    Ok(map)
}

fn pair(text: &str) -> Result<(&str, &str), ParameterError> {
    text.split_once('=').ok_or_else(|| ParameterError::NotAPair { text: text.into() })
}

fn unknown<'a, P: Choosable + 'a>(
    owner: &str,
    name: &str,
    known: impl Iterator<Item = &'a P>,
) -> ParameterError {
    let known = known.map(|parameter| parameter.name().to_owned()).collect();
    ParameterError::Unknown { owner: owner.into(), name: name.into(), known }
}
