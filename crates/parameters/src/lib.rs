// SPDX-License-Identifier: GPL-2.0-only
//! Descriptions of parameters, and how they are given values as `key=value`.
//!
//! A parameter is a number within a range, or one of several names ([`Allowed`]). Parameters of a
//! program are constants: a [`Parameter`] in a [`Description`], with its values in [`Settings`].
//! Parameters that are described elsewhere, as in an object file, are [`Owned`], or any
//! [`Choosable`]. Both have the same messages, those of [`ParameterError`].

mod allowed;
mod described;
mod error;
mod given;
mod parameter;
mod settings;

pub use allowed::{Allowed, Number, Value};
pub use described::{describe, describe_used};
pub use error::ParameterError;
pub use given::{Choosable, assigned, chosen, chosen_while_running, pairs};
pub use parameter::{Owned, Parameter};
pub use settings::{Description, Settings};
