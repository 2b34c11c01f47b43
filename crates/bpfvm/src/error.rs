// SPDX-License-Identifier: GPL-2.0-only

use btf::BtfError;
use thiserror::Error;

/// Why bytes are not an object that can be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ObjectError {
    #[error("it is not an ELF file: {0}")]
    Elf(String),
    #[error("it is an ELF file for another machine, not for BPF")]
    OtherMachine,
    #[error("it is a BPF object with the bytes of a number in the other order")]
    OtherOrder,
    #[error("it has no types (.BTF): compile it with -g, and strip it with llvm-strip -g")]
    NoTypes,
    #[error("its types cannot be read: {0}")]
    Types(#[from] BtfError),
    #[error("its section {section} cannot be used: {why}")]
    Section { section: String, why: String },
}

impl ObjectError {
    pub fn section(section: &str, why: impl Into<String>) -> Self {
        Self::Section { section: section.to_owned(), why: why.into() }
    }
}
