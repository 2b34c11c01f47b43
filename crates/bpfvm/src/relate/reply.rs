// SPDX-License-Identifier: GPL-2.0-only

/// What a kernel answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// What the instruction gets instead of what the compiler has written.
    Value(u64),
    /// The kernel does not have it: the instruction must not be reached.
    Missing,
    /// The description of the kernel leaves out the members of a struct on the way.
    Unknown,
}

/// What is asked and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The question in words.
    pub what: String,
    pub answer: Answer,
    /// What the compiler has written, if it must be in the instruction.
    pub written: Option<u64>,
    /// How a load or a store of the field changes; None if what is asked for is not a field that it can load.
    pub access: Option<Access>,
}

/// How many bytes of a field are loaded or stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// By the object's own types, and by the kernel's.
    pub own: u64,
    pub bytes: u64,
    /// Whether a number of another size is still the same number: it has no sign, or both are addresses.
    pub is_resizable: bool,
}

impl Reply {
    pub fn new(what: String, answer: Answer, written: Option<u64>) -> Self {
        Self { what, answer, written, access: None }
    }
}
