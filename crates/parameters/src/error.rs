// SPDX-License-Identifier: GPL-2.0-only
//! Why a value is refused.

use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParameterError {
    #[error("{owner} has no parameter {name:?}; it has {}", listed(known))]
    Unknown { owner: String, name: String, known: Vec<String> },
    #[error("{name}={value:?} is not a whole number; it may be {range}")]
    NotANumber { name: String, value: String, range: String },
    #[error("{name}={value} is out of range; it may be {range}")]
    OutOfRange { name: String, value: String, range: String },
    #[error("{name}={value:?} is none of {}", choices.join(", "))]
    NoneOf { name: String, value: String, choices: Vec<String> },
    #[error("{name} is fixed once attached: detach the scheduler and attach it with the new value")]
    Fixed { name: String },
    #[error("{name} is for variant={} only, not for variant={variant}", variants.join(" or "))]
    OtherVariant { name: String, variants: Vec<String>, variant: String },
    #[error("{text:?} is not key=value")]
    NotAPair { text: String },
    #[error("{name} is given twice")]
    Twice { name: String },
    #[error("the object describes {name:?} wrongly: {reason}")]
    BadDescription { name: String, reason: String },
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "none".into() } else { known.join(", ") }
}
