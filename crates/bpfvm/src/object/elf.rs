// SPDX-License-Identifier: GPL-2.0-only
//! The sections, symbols and relocations of an ELF file for BPF.

use object::elf::{EM_BPF, FileHeader64, SHF_EXECINSTR, SHT_NOBITS, SHT_PROGBITS, STB_WEAK};
use object::elf::{STB_LOCAL, STT_FUNC, STT_SECTION};
use object::read::elf::{FileHeader, Rel as _, SectionHeader as _, Sym as _};
use object::{Endianness, LittleEndian};

use crate::error::ObjectError;

type Header = FileHeader64<LittleEndian>;
const ORDER: LittleEndian = LittleEndian;

/// More than any object has: a size beyond it is a wrong number.
const LARGEST: u64 = 1 << 32;

#[derive(Debug)]
pub struct Section<'a> {
    pub name: String,
    pub bytes: &'a [u8],
    /// Also of a section without bytes in the file.
    pub size: u64,
    pub is_code: bool,
    /// Whether the file has its bytes, or only its size because all are 0.
    pub is_empty: bool,
    pub relocations: Vec<Relocation>,
}

/// Something to fill in at `offset` of a section.
#[derive(Debug, Clone, Copy)]
pub struct Relocation {
    pub offset: u64,
    /// The number of the symbol.
    pub symbol: usize,
}

#[derive(Debug, Clone)]
pub struct Symbol {
    pub name: String,
    /// The number of its section, if it is in one.
    pub section: Option<usize>,
    /// Whether something else has to have it.
    pub is_outside: bool,
    pub offset: u64,
    pub size: u64,
    pub is_function: bool,
    pub is_weak: bool,
    pub is_local: bool,
}

/// Sections by their number in the file; those that nothing is read from are empty.
#[derive(Debug)]
pub struct Elf<'a> {
    pub sections: Vec<Section<'a>>,
    pub symbols: Vec<Symbol>,
}

impl<'a> Elf<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ObjectError> {
        let header = read_header(bytes)?;
        let broken = |error: object::read::Error| ObjectError::Elf(error.to_string());
        let table = header.sections(ORDER, bytes).map_err(broken)?;
        let mut sections = Vec::new();
        for section in table.iter() {
            let name = table.section_name(ORDER, section).map_err(broken)?;
            let name = String::from_utf8_lossy(name).into_owned();
            let kind = section.sh_type(ORDER);
            let size = section.sh_size(ORDER);
            if size > LARGEST {
                return Err(ObjectError::section(&name, format!("it has {size} bytes")));
            }
            sections.push(Section {
                bytes: section.data(ORDER, bytes).map_err(broken)?,
                size,
                is_code: kind == SHT_PROGBITS && section.sh_flags(ORDER).contains(SHF_EXECINSTR),
                is_empty: kind == SHT_NOBITS,
                relocations: Vec::new(),
                name,
            });
        }
        let symbols = table.symbols(ORDER, bytes, object::elf::SHT_SYMTAB).map_err(broken)?;
        let mut read = Self { sections, symbols: Vec::new() };
        for (index, symbol) in symbols.enumerate() {
            let section = symbols.symbol_section(ORDER, symbol, index).map_err(broken)?;
            let section = section.map(|index| index.0);
            let name = symbols.symbol_name(ORDER, symbol).map_err(broken)?;
            let name = String::from_utf8_lossy(name).into_owned();
            let is_section = symbol.st_type() == STT_SECTION;
            let of = section.and_then(|index| read.sections.get(index));
            let name = of.filter(|_| is_section).map_or(name, |of| of.name.clone());
            read.symbols.push(Symbol {
                name,
                section,
                is_outside: symbol.is_undefined(ORDER),
                offset: symbol.st_value(ORDER),
                size: symbol.st_size(ORDER),
                is_function: symbol.st_type() == STT_FUNC,
                is_weak: symbol.st_bind() == STB_WEAK,
                is_local: symbol.st_bind() == STB_LOCAL,
            });
        }
        for section in table.iter() {
            let Some((rows, _)) = section.rel(ORDER, bytes).map_err(broken)? else { continue };
            let target = section.sh_info(ORDER) as usize;
            let found = rows.iter().map(|row| Relocation {
                offset: row.r_offset(ORDER),
                symbol: row.r_sym(ORDER) as usize,
            });
            read.add(target, found.collect())?;
        }
        Ok(read)
    }

    fn add(&mut self, target: usize, found: Vec<Relocation>) -> Result<(), ObjectError> {
        let symbols = self.symbols.len();
        let Some(section) = self.sections.get_mut(target) else {
            return Err(ObjectError::Elf(format!(
                "relocations are for section {target}, which is not there"
            )));
        };
        if let Some(wrong) = found.iter().find(|each| each.symbol >= symbols) {
            let why = format!("a relocation names symbol {}, which is not there", wrong.symbol);
            return Err(ObjectError::section(&section.name, why));
        }
        section.relocations.extend(found);
        Ok(())
    }

    /// The first section of this name, with its number.
    pub fn find(&self, name: &str) -> Option<(usize, &Section<'a>)> {
        self.sections.iter().enumerate().find(|(_, section)| section.name == name)
    }

    pub fn bytes(&self, name: &str) -> Option<&'a [u8]> {
        self.find(name).map(|(_, section)| section.bytes)
    }

    /// The symbol of a variable or function in a section that has this name.
    pub fn symbol_in(&self, section: usize, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|each| each.section == Some(section) && each.name == name)
    }
}

fn read_header(bytes: &[u8]) -> Result<&Header, ObjectError> {
    let header = FileHeader64::<Endianness>::parse(bytes)
        .map_err(|error| ObjectError::Elf(error.to_string()))?;
    let order = header.endian().map_err(|error| ObjectError::Elf(error.to_string()))?;
    if header.e_machine(order) != EM_BPF {
        return Err(ObjectError::OtherMachine);
    }
    if order != Endianness::Little {
        return Err(ObjectError::OtherOrder);
    }
    Header::parse(bytes).map_err(|error| ObjectError::Elf(error.to_string()))
}
