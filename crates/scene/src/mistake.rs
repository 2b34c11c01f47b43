// SPDX-License-Identifier: GPL-2.0-only
//! Why a text is not a scene.

use std::fmt::{self, Display};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// From 1 on.
    pub line: usize,
    pub what: String,
}

impl Mistake {
    pub fn at<T>(line: usize, what: impl Into<String>) -> Result<T, Self> {
        Err(Self { line, what: what.into() })
    }
}

impl Display for Mistake {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Mistake {}
