// SPDX-License-Identifier: GPL-2.0-only
//! The values that parameters accept, how they are shown, and the messages for other values.

use std::collections::BTreeMap;

use parameters::{
    Allowed, Choosable, Description, Owned, Parameter, ParameterError, Settings, Value, assigned,
    chosen_while_running, pairs,
};
use proptest::prelude::*;
use serde_json::json;

const OF_ALL: &[Parameter] = &[
    Parameter::choice("variant", &["old", "new"], "new", "Which."),
    Parameter::number("seed", "1", 0, u64::MAX, 1, "Of all."),
];
const OF_ONE: &[Parameter] =
    &[Parameter::number("slice_ms", "ms", 1, 1000, 6, "How long.").only(&["new"])];
static BOTH: Description =
    Description { name: "both", sentence: "Two groups.", parameters: &[OF_ALL, OF_ONE] };

/// A parameter as a scheduler's object describes it.
fn quota() -> Owned {
    Owned {
        name: "quota_ms".into(),
        allowed: Allowed::Range { unit: "ms".into(), min: -5, max: 1000 },
        default: Value::Number(6),
        sentence: "How long it takes.".into(),
        variants: &[],
    }
}

fn era() -> Owned {
    let choices = ["2.6.8", "2.6.31", "sd-0.48"].map(String::from).to_vec();
    Owned {
        name: "era".into(),
        allowed: Allowed::Choices { choices },
        default: Value::Name("2.6.31".into()),
        sentence: "Which release.".into(),
        variants: &[],
    }
}

/// A parameter that may be changed only before its owner runs.
struct Fixed(Owned);

impl Choosable for Fixed {
    type Number = i64;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn parse(&self, text: &str) -> Result<i64, ParameterError> {
        self.0.parse(text)
    }

    fn is_fixed(&self) -> bool {
        self.0.name == "era"
    }
}

fn refusal<T>(result: Result<T, ParameterError>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn all_kinds_of_parameters_have_the_same_messages() {
    let described = [quota(), era()];
    let owned = |text: &str| refusal(assigned("bfs", described.iter(), [text]));
    assert_eq!(owned("quota=1"), "bfs has no parameter \"quota\"; it has quota_ms, era");
    assert_eq!(
        owned("quota_ms=fast"),
        "quota_ms=\"fast\" is not a whole number; it may be -5..1000 ms"
    );
    assert_eq!(owned("quota_ms=1001"), "quota_ms=1001 is out of range; it may be -5..1000 ms");
    assert_eq!(owned("quota_ms=-6"), "quota_ms=-6 is out of range; it may be -5..1000 ms");
    assert_eq!(owned("era=2.6"), "era=\"2.6\" is none of 2.6.8, 2.6.31, sd-0.48");
    assert_eq!(owned("era"), "\"era\" is not key=value");
    assert_eq!(
        refusal(assigned::<Owned>("none", [].iter(), ["x=1"])),
        "none has no parameter \"x\"; it has none"
    );

    let constant = |texts: &[&str]| refusal(Settings::parse(&BOTH, texts.iter().copied()));
    assert_eq!(
        constant(&["slice=1"]),
        "both has no parameter \"slice\"; it has variant, seed, slice_ms"
    );
    assert_eq!(constant(&["slice_ms=-1"]), "slice_ms=-1 is out of range; it may be 1..1000 ms");
    assert_eq!(
        constant(&["slice_ms=1.5"]),
        "slice_ms=\"1.5\" is not a whole number; it may be 1..1000 ms"
    );
    assert_eq!(
        constant(&["seed=18446744073709551616"]),
        "seed=18446744073709551616 is out of range; it may be 0..18446744073709551615"
    );
    assert_eq!(constant(&["variant=1"]), "variant=\"1\" is none of old, new");
    assert_eq!(constant(&["seed=1", "seed=2"]), "seed is given twice");
    assert_eq!(
        constant(&["variant=old", "slice_ms=1"]),
        "slice_ms is for variant=new only, not for variant=old"
    );
    // More digits than any type can hold.
    assert!(constant(&[&format!("seed={}", "9".repeat(80))]).contains(" is out of range; "));
}

#[test]
fn the_first_of_several_mistakes_is_reported() {
    let refusal = |texts: &[&str]| refusal(Settings::parse(&BOTH, texts.iter().copied()));
    assert_eq!(refusal(&["variant=x", "seed"]), "variant=\"x\" is none of old, new");
    assert_eq!(refusal(&["seed", "variant=x"]), "\"seed\" is not key=value");
}

#[test]
fn a_fixed_parameter_is_refused_while_its_owner_runs() {
    let known = [Fixed(quota()), Fixed(era())];
    let given = |texts: &[&'static str]| {
        let given: Vec<_> = texts.iter().map(|text| text.split_once('=').unwrap()).collect();
        chosen_while_running("bfs", known.iter(), given)
            .map(|chosen| chosen.into_iter().map(|(_, value)| value).collect())
    };
    assert_eq!(given(&["quota_ms=-5"]), Ok(vec![-5]));
    assert_eq!(
        refusal(given(&["era=2.6.8"])),
        "era is fixed once attached: detach the scheduler and attach it with the new value"
    );
    assert_eq!(
        refusal(given(&["era=2.6.8", "x=1"])),
        "bfs has no parameter \"x\"; it has quota_ms, era"
    );
}

#[test]
fn pairs_become_a_map() {
    let map = BTreeMap::from([("a", "1"), ("b", "2=3")].map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(pairs(["a=1", "b=2=3"]), Ok(map));
    assert_eq!(refusal(pairs([String::from("x")])), "\"x\" is not key=value");
    assert_eq!(refusal(pairs(["x=1", "x=2"])), "x is given twice");
}

#[test]
fn numbers_and_choices_are_shown_as_what_they_are() {
    assert_eq!(
        serde_json::to_value(&BOTH).unwrap(),
        json!({
            "name": "both",
            "sentence": "Two groups.",
            "parameters": [
                { "name": "variant", "choices": ["old", "new"], "default": "new", "sentence": "Which." },
                { "name": "seed", "unit": "1", "min": 0, "max": u64::MAX, "default": 1, "sentence": "Of all." },
                {
                    "name": "slice_ms", "unit": "ms", "min": 1, "max": 1000, "default": 6,
                    "sentence": "How long.", "variants": ["new"],
                },
            ],
        })
    );
    assert_eq!(
        serde_json::to_value(quota()).unwrap(),
        json!({
            "name": "quota_ms", "unit": "ms", "min": -5, "max": 1000, "default": 6, "sentence": "How long it takes.",
        })
    );
    let era = era();
    assert_eq!(serde_json::to_value(era.allowed.named(2)).unwrap(), json!("sd-0.48"));
    assert_eq!(
        serde_json::to_value(era.allowed.named(3)).unwrap(),
        json!(3),
        "what has no name is a number"
    );
    assert_eq!(era.allowed.named(-1), Value::Number(-1));
}

#[test]
fn settings_are_the_defaults_except_given_values() {
    let defaults = Settings::new(&BOTH);
    assert_eq!(
        (defaults.choice("variant"), defaults.get("variant"), defaults.get("seed")),
        ("new", 1, 1)
    );
    assert_eq!((defaults.ns("slice_ms"), defaults.count("slice_ms")), (6_000_000, 6));
    let changed = Settings::parse(&BOTH, ["slice_ms=7"]).unwrap().with(&[("seed", "9")]);
    assert_eq!((changed.get("slice_ms"), changed.get("seed")), (7, 9));
    assert_eq!((changed.choice("seed"), changed.choice("none")), ("", ""), "a number has no name");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_number_is_taken_within_its_range_only(
        (min, max) in any::<(i64, i64)>().prop_map(|(a, b)| (a.min(b), a.max(b))),
        number in prop_oneof![any::<i64>().prop_map(i128::from), any::<i128>()],
    ) {
        let range = Allowed::<i64, String, Vec<String>>::Range { unit: "1".into(), min, max };
        for number in [number, i128::from(min), i128::from(max), i128::from(min) - 1, i128::from(max) + 1] {
            let within = (i128::from(min)..=i128::from(max)).contains(&number);
            match range.parse("x", &number.to_string()) {
                Ok(found) => prop_assert!(within && i128::from(found) == number),
                Err(ParameterError::OutOfRange { .. }) => prop_assert!(!within),
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }

    #[test]
    fn no_text_is_taken_by_mistake(text in "[-+0-9a-z=. \u{0}é]{0,12}") {
        match assigned("both", BOTH.all_parameters(), [text.as_str()]) {
            Ok(given) => prop_assert!(given.len() == 1),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        if let Ok(number) = OF_ONE[0].parse(&text) {
            prop_assert_eq!(text.parse(), Ok(i128::from(number)));
        }
    }
}
