// SPDX-License-Identifier: GPL-2.0-only

use thiserror::Error;

/// Why bytes are not types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BtfError {
    #[error("there are no types of BTF")]
    Missing,
    #[error("the types are of a processor with another order of bytes")]
    Foreign,
    #[error("the types are cut off at byte {at}")]
    Short { at: usize },
    #[error("type {id} is of the kind {kind}, which is not known")]
    UnknownKind { id: u32, kind: u32 },
    #[error("type {id} refers to {what} {number}, which is not there")]
    Dangling { id: u32, what: &'static str, number: u32 },
    #[error("the header says what cannot be: {what}")]
    Header { what: &'static str },
}
