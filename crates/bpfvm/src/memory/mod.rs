// SPDX-License-Identifier: GPL-2.0-only
//! The memory that programs see: one window of addresses, of which only parts are there. Whatever address a program
//! uses, it comes to this window or to nothing.

mod heap;
mod layout;
mod window;

pub use heap::Heap;
pub use layout::{ARENA, HEAP, MASK, PAGE, RESERVED, length};
pub use window::{Access, NotThere, Window};
