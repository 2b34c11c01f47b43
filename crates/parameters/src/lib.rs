// SPDX-License-Identifier: GPL-2.0-only
//! How parameters describe themselves, and how they are given values as `key=value`.
//!
//! A parameter is a number within a range, or one of several names ([`Allowed`]). What is described in a program
//! is constant: a [`Parameter`] as it is, in a [`Description`], with its values in [`Settings`]. What is
//! described elsewhere, as by an object file, is [`Owned`], or anything that is [`Choosable`]. Both are
//! refused in the same sentences, those of [`ParameterError`].

mod allowed;
mod error;
mod given;
mod parameter;
mod settings;

pub use allowed::{Allowed, Number, Value};
pub use error::ParameterError;
pub use given::{Choosable, assigned, chosen, chosen_while_running, pairs};
pub use parameter::{Owned, Parameter};
pub use settings::{Description, Settings};
