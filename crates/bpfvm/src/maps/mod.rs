// SPDX-License-Identifier: GPL-2.0-only
//! Maps: what programs keep between calls. Values lie in the heap, where programs change them as they like; keys and
//! what else a kind of map needs are the host's.

mod array;
mod hash;
mod map;
mod queue;
mod request;
mod ring;
mod storage;
mod value;

pub use map::{Kind, Map};
pub use queue::Queue;
pub use request::{Each, MapError};
pub use ring::Ring;
pub use storage::Storage;
pub use value::{Part, Special, ValueShape};
