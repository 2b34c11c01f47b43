// SPDX-License-Identifier: GPL-2.0-only
//! What an object asks of a kernel's types, functions and variables, and what the kernel answers, by the rules of libbpf
//! (CO-RE: compile once, run everywhere).

mod compatible;
mod field;
mod names;
mod spec;
mod types;
mod value;
mod words;

pub use compatible::are_compatible;
pub use names::essential;
pub use spec::CUT;
pub use types::{Answer, AskedError, Types, ask};
