// SPDX-License-Identifier: GPL-2.0-only
//! What an object asks of a kernel's types, functions and variables, and what the kernel answers, by the rules of libbpf
//! (CO-RE: compile once, run everywhere).

mod ask;
mod compatible;
mod field;
mod names;
mod reply;
mod spec;
mod types;
mod value;
mod words;

pub use ask::{AskedError, ask};
pub use compatible::are_compatible;
pub use names::essential;
pub use reply::{Access, Answer, Reply};
pub use types::{CUT, Types};
