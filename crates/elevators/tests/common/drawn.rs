// SPDX-License-Identifier: GPL-2.0-only
//! Random values of every parameter of an elevator or a disk.
#![expect(clippy::cast_possible_truncation, reason = "contexts and draws are small")]

use elevators::parameters::{Allowed, Description, Parameter, Settings};

/// The place of a value in the allowed range: at an end, the default, or anywhere.
#[derive(Debug, Clone, Copy)]
pub enum Drawn {
    Least,
    Most,
    Usual,
    /// This far into the range.
    Within(u64),
}

/// Settings with `variant` as in `elevators::catalogue::VARIANTS`; every other parameter gets a
/// value from `draw`.
pub fn settings(
    description: &'static Description,
    variant: &[&str],
    mut draw: impl FnMut() -> Drawn,
) -> Settings {
    let of_variant = Settings::parse(description, variant.iter().copied()).unwrap();
    let name = of_variant.choice("variant");
    let given = |parameter: &Parameter| {
        variant.iter().any(|pair| pair.split_once('=').unwrap().0 == parameter.name)
    };
    let pairs: Vec<String> = description
        .all_parameters()
        .filter(|parameter| parameter.variants.is_empty() || parameter.variants.contains(&name))
        .filter(|parameter| !given(parameter))
        .filter_map(|parameter| {
            value(parameter, draw()).map(|value| format!("{}={value}", parameter.name))
        })
        .collect();
    of_variant.change(pairs.iter().map(String::as_str)).unwrap()
}

/// A value as text; None for the default.
fn value(parameter: &Parameter, drawn: Drawn) -> Option<String> {
    match (parameter.allowed, drawn) {
        (_, Drawn::Usual) => None,
        (Allowed::Choices { choices }, Drawn::Least) => Some(choices[0].to_owned()),
        (Allowed::Choices { choices }, Drawn::Most) => Some(choices.last()?.to_string()),
        (Allowed::Choices { choices }, Drawn::Within(far)) => {
            Some(choices[(far % choices.len() as u64) as usize].to_owned())
        }
        (Allowed::Range { min, .. }, Drawn::Least) => Some(min.to_string()),
        (Allowed::Range { max, .. }, Drawn::Most) => Some(max.to_string()),
        (Allowed::Range { min, max, .. }, Drawn::Within(far)) => {
            let count = u128::from(max - min) + 1;
            Some((u128::from(min) + u128::from(far) % count).to_string())
        }
    }
}
