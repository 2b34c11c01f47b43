// SPDX-License-Identifier: GPL-2.0-only
//! Any text as a description of a parameter or as values for parameters: each is refused with a
//! message, or within its range.
//!
//! The first line is the tag of a scheduler's parameter, and the second its initial value; or the name of an elevator or
//! a disk. The others are key=value.
#![no_main]

use bpf::globals::Global;
use elevators::catalogue;
use libfuzzer_sys::fuzz_target;
use parameters::{
    Allowed, Description, Number, ParameterError, Settings, Value, assigned, chosen,
    chosen_while_running, pairs,
};
use schedulers::{Parameter, describe};

fuzz_target!(|text: &str| {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if let Some(description) = catalogue::find(first) {
        built_in(description, Settings::new(description), rest);
    } else if let Some(settings) = disk_model::catalogue::settings(first, []) {
        built_in(&disk_model::DISK, settings.expect("nothing was given"), rest);
    } else {
        let (value, rest) = rest.split_once('\n').unwrap_or((rest, ""));
        of_a_scheduler(first, value.parse().unwrap_or_default(), rest);
    }
});

fn built_in(description: &'static Description, settings: Settings, text: &str) {
    let given = assigned(description.name, description.all_parameters(), text.lines());
    let Some(given) = taken(given) else {
        assert!(settings.change(text.lines()).is_err());
        return;
    };
    for (parameter, number) in &given {
        is_allowed(&parameter.allowed, *number);
    }
    if let Some(settings) = taken(settings.change(text.lines())) {
        for (parameter, number) in given {
            assert_eq!(settings.get(parameter.name), number);
            if let Value::Name(name) = parameter.allowed.named(number) {
                assert_eq!(settings.choice(parameter.name), name);
            }
        }
    }
}

fn of_a_scheduler(tag: &str, value: i64, text: &str) {
    for signed in [true, false] {
        let global = Global {
            name: "quota".into(),
            section: if value % 2 == 0 { ".data" } else { ".rodata" }.into(),
            offset: 0,
            width: 8,
            count: 1,
            signed,
            boolean: false,
            tags: vec![tag.into()],
        };
        if let Some(Some(parameter)) = taken(describe(&global, &value.to_le_bytes())) {
            assert!(signed || value >= 0, "it has no sign");
            is_allowed(&parameter.about.allowed, value);
            given(&parameter, text);
        }
    }
}

/// A pair in a list and in a map has the same result, and a fixed parameter is refused for a
/// running scheduler.
fn given(parameter: &Parameter, text: &str) {
    let known = || std::iter::once(parameter);
    let listed = taken(assigned("scheduler", known(), text.lines()));
    let map = taken(pairs(text.lines())).unwrap_or_default();
    let texts = || map.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mapped = taken(chosen("scheduler", known(), texts()));
    let running = taken(chosen_while_running("scheduler", known(), texts()));
    for (parameter, number) in mapped.iter().flatten() {
        is_allowed(&parameter.about.allowed, *number);
    }
    let numbers = |found: &Option<Vec<(&Parameter, i64)>>| {
        found.as_ref().map(|found| found.iter().map(|(_, number)| *number).collect::<Vec<_>>())
    };
    if listed.is_some() {
        assert_eq!(numbers(&listed), numbers(&mapped));
    }
    if parameter.runtime || map.is_empty() {
        assert_eq!(numbers(&running), numbers(&mapped));
    } else {
        assert!(running.is_none(), "a fixed parameter was set");
    }
}

/// Whether the text or name of the number is parsed to the same number.
fn is_allowed<N, Text, Names>(allowed: &Allowed<N, Text, Names>, number: N)
where
    N: Number + std::fmt::Debug,
    Text: AsRef<str> + Clone,
    Names: AsRef<[Text]>,
{
    let named = allowed.named(number);
    assert_eq!(allowed.number(&named), Some(number));
    let shown = match &named {
        Value::Name(name) => name.as_ref().to_owned(),
        Value::Number(number) => number.to_string(),
    };
    assert_eq!(allowed.parse("it", &shown).ok(), Some(number));
    match allowed {
        Allowed::Range { min, max, .. } => assert!(*min <= number && number <= *max),
        Allowed::Choices { choices } => {
            let count = choices.as_ref().len().try_into().expect("it is no more than memory holds");
            assert!((0..count).contains(&number.into()));
        }
    }
}

fn taken<T>(result: Result<T, ParameterError>) -> Option<T> {
    result.inspect_err(|error| assert!(!error.to_string().is_empty())).ok()
}
