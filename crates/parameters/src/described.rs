// SPDX-License-Identifier: GPL-2.0-only
//! Parameters as programs describe them in declaration tags of BTF.
//!
//! The tag of a number reads `parameter | UNIT | MIN..MAX | SENTENCE`, that of a choice `choice |
//! NAME, NAME | SENTENCE`; see schedulers/include/describe.h.

use crate::allowed::Allowed;
use crate::error::ParameterError;
use crate::parameter::Owned;

/// The parameter that the global integer `name` is by its `tags`; None if it is not one. The
/// `initial` value is None where the variable is not one number of 64 bits.
///
/// # Errors
/// `BadDescription` if a tag does not follow the grammar, or the initial value is not allowed.
pub fn describe(
    name: &str,
    tags: &[impl AsRef<str>],
    signed: bool,
    initial: Option<i64>,
) -> Result<Option<Owned>, ParameterError> {
    let found = describe_used(name, tags, signed, initial)?;
    match &found {
        Some(about) if about.allowed.number(&about.default).is_none() => {
            Err(wrong(name, "its initial value is not within the range"))
        }
        _ => Ok(found),
    }
}

/// The parameter of [`describe`] in a program that is in use, whose `value` is not checked.
///
/// # Errors
/// `BadDescription` if a tag does not follow the grammar.
pub fn describe_used(
    name: &str,
    tags: &[impl AsRef<str>],
    signed: bool,
    value: Option<i64>,
) -> Result<Option<Owned>, ParameterError> {
    let tagged = |kind: &str| {
        tags.iter().find_map(|tag| tag.as_ref().strip_prefix(kind)?.strip_prefix(" | "))
    };
    let found = match (tagged("parameter"), tagged("choice")) {
        (Some(tag), _) => number(tag),
        (None, Some(tag)) if !signed => choice(tag),
        (None, Some(_)) => Err("a choice is an unsigned integer"),
        (None, None) => return Ok(None),
    };
    let (allowed, sentence) = found.map_err(|reason| wrong(name, reason))?;
    let value = value.ok_or_else(|| wrong(name, "its value is not one number"))?;
    let default = allowed.named(value);
    Ok(Some(Owned { name: name.into(), allowed, default, sentence, variants: &[] }))
}

fn wrong(name: &str, reason: &str) -> ParameterError {
    ParameterError::BadDescription { name: name.into(), reason: reason.into() }
}

type Described = Result<(Allowed<i64, String, Vec<String>>, String), &'static str>;

fn number(tag: &str) -> Described {
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

fn choice(tag: &str) -> Described {
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
