// SPDX-License-Identifier: GPL-2.0-only
//! The two classes of requests: those that a process waits for, and the rest.

use crate::request::Request;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sync,
    Async,
}

pub fn kind(request: &Request) -> Kind {
    if request.sync { Kind::Sync } else { Kind::Async }
}
