// SPDX-License-Identifier: GPL-2.0-only
//! Objects inside a program: the bytes that its loader hands to the kernel.

use object::LittleEndian;
use object::elf::{EM_BPF, FileHeader64, SHT_NOBITS};
use object::read::elf::{FileHeader, SectionHeader as _};

const MAGIC: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];
const ORDER: LittleEndian = LittleEndian;

/// Finds all objects in the bytes of a program, in their order. What only looks like one is left out.
pub fn find_embedded(program: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = program[at..].windows(MAGIC.len()).position(|part| part == MAGIC) {
        at += next;
        let length = length(&program[at..]);
        found.extend(length.map(|length| &program[at..at + length]));
        at += length.unwrap_or(1);
    }
    found
}

/// How many bytes the object at the beginning of `bytes` has; None if it is none.
fn length(bytes: &[u8]) -> Option<usize> {
    let header = FileHeader64::<LittleEndian>::parse(bytes).ok()?;
    if header.e_machine(ORDER) != EM_BPF {
        return None;
    }
    let table = header.section_headers(ORDER, bytes).ok()?;
    let headers = header.e_shoff(ORDER).checked_add(size_of_val(table) as u64)?;
    let held = table.iter().filter(|section| section.sh_type(ORDER) != SHT_NOBITS);
    let ends = held.map(|section| section.sh_offset(ORDER).checked_add(section.sh_size(ORDER)));
    let end = ends.chain([Some(headers)]).try_fold(0, |end, next| Some(next?.max(end)))?;
    usize::try_from(end).ok().filter(|&end| end <= bytes.len())
}
