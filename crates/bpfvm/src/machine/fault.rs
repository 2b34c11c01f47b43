// SPDX-License-Identifier: GPL-2.0-only

use std::fmt::{self, Display};

use thiserror::Error;

use crate::loading::Site;
use crate::memory::NotThere;

/// What a program did that it must not, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Fault {
    pub problem: Problem,
    /// None if the call itself was wrong.
    pub site: Option<Site>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    #[error(transparent)]
    Memory(#[from] NotThere),
    /// It comes to a step that must not be reached.
    #[error("{0}")]
    Never(String),
    #[error("it calls {0}, which is not there here")]
    NoSuchCall(String),
    #[error("it has not ended after {0} instructions")]
    Endless(u64),
    #[error("its functions call each other deeper than 8, or than there are stacks")]
    TooDeep,
    #[error("it runs past the end of its function")]
    PastEnd,
    #[error("what it has called of the kernel has an error of its own, which is shown above")]
    Panicked,
    /// A function of the kernel was used as it must not be.
    #[error("{0}")]
    Misuse(String),
}

impl Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Site { function, line }) = &self.site {
            write!(to, "{function}")?;
            if let Some((file, line)) = line {
                write!(to, " ({file}:{line})")?;
            }
            write!(to, ": ")?;
        }
        self.problem.fmt(to)
    }
}
