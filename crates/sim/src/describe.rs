// SPDX-License-Identifier: GPL-2.0-only
//! Makes the description of a kernel from a real one.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Write, stdout};
use std::path::Path;

use anyhow::{Context, Result};
use bpfvm::kernel::select;
use btf::{Btf, Kind};
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection};

/// Writes what schedulers can ask of the kernel `image` to `description`, and prints a line for each name of the
/// kernel's types and functions: `t` or `f`, and the name.
pub fn kernel(image: &Path, description: &Path) -> Result<()> {
    let bytes = fs::read(image).with_context(|| format!("cannot read {}", image.display()))?;
    let elf: ElfFile64 = ElfFile64::parse(&*bytes).context("it is not an ELF file")?;
    let section = elf.section_by_name(".BTF").context("it has no types (.BTF)")?;
    let btf = Btf::parse(section.data()?)?;
    fs::write(description, select::describe(&btf).write())
        .with_context(|| format!("cannot write {}", description.display()))?;
    let names: BTreeSet<_> =
        btf.types().iter().filter_map(|each| Some((letter(&each.kind)?, &*each.name))).collect();
    let lines: Vec<_> = names
        .iter()
        .filter(|(_, name)| !name.is_empty() && !name.contains(' '))
        .map(|(letter, name)| format!("{letter} {name}\n"))
        .collect();
    Ok(stdout().write_all(lines.concat().as_bytes())?)
}

fn letter(kind: &Kind) -> Option<char> {
    match kind {
        Kind::Function { .. } => Some('f'),
        Kind::Struct { .. } | Kind::Union { .. } | Kind::Enum { .. } | Kind::Typedef(_) => {
            Some('t')
        }
        _ => None,
    }
}
