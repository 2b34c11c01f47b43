// SPDX-License-Identifier: GPL-2.0-only
//! Sections of instructions, the functions in them, and what the instructions refer to.

use super::data::Data;
use super::elf::{Elf, Relocation, Section, Symbol};
use super::maps::Map;
use super::outside::Outside;
use crate::error::ObjectError;
use crate::instruction::{BYTES, CALL, Instruction, LOAD_64, read_all};

/// A section of instructions. Places in it are counted in instructions, of which a wide one is two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// What kind of program it is, such as `struct_ops/bfs_enqueue`; `.text` is called by others.
    pub name: String,
    pub instructions: Vec<Instruction>,
    pub functions: Vec<Function>,
    /// Sorted by their places.
    pub references: Vec<Reference>,
    section: usize,
}

impl Code {
    /// What the instruction at a place refers to, if it refers to anything.
    pub fn target(&self, at: usize) -> Option<Target> {
        let found = self.references.binary_search_by_key(&at, |reference| reference.at).ok()?;
        Some(self.references[found].target)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub start: usize,
    pub length: usize,
    /// Whether others see it.
    pub is_global: bool,
}

/// What the instruction at a place refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    pub at: usize,
    pub target: Target,
}

/// Numbers are those of the object's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Function { code: usize, function: usize },
    Data { data: usize, offset: u64 },
    Map(usize),
    Outside(usize),
}

/// What references lead to.
pub struct Places<'a> {
    pub elf: &'a Elf<'a>,
    pub maps: &'a [Map],
    pub data: &'a [Data],
    pub outside: &'a [Outside],
}

pub fn read(places: &Places<'_>) -> Result<Vec<Code>, ObjectError> {
    let sections = places.elf.sections.iter().enumerate().filter(|(_, section)| section.is_code);
    let sections = sections.filter(|(_, section)| !section.bytes.is_empty());
    let mut code = sections
        .map(|(number, section)| read_section(places.elf, number, section))
        .collect::<Result<Vec<_>, _>>()?;
    let references = (0..code.len())
        .map(|index| places.references(&code, index))
        .collect::<Result<Vec<_>, _>>()?;
    code.iter_mut().zip(references).for_each(|(code, found)| code.references = found);
    Ok(code)
}

fn read_section(elf: &Elf<'_>, number: usize, section: &Section<'_>) -> Result<Code, ObjectError> {
    let wrong = |why: String| ObjectError::section(&section.name, why);
    if !section.bytes.len().is_multiple_of(BYTES) {
        return Err(wrong(format!("{} bytes are not whole instructions", section.bytes.len())));
    }
    let instructions = read_all(section.bytes);
    let mut functions = Vec::new();
    for symbol in &elf.symbols {
        if symbol.section != Some(number) || !symbol.is_function {
            continue;
        }
        let (start, length) = (symbol.offset / BYTES as u64, symbol.size / BYTES as u64);
        let is_whole = (symbol.offset | symbol.size).is_multiple_of(BYTES as u64);
        let end = start.checked_add(length).filter(|&end| end <= instructions.len() as u64);
        if !is_whole || end.is_none() || length == 0 {
            return Err(wrong(format!("the function {} is not inside", symbol.name)));
        }
        functions.push(Function {
            name: symbol.name.clone(),
            start: place(start),
            length: place(length),
            is_global: !symbol.is_local,
        });
    }
    sort(&section.name, &mut functions)?;
    Ok(Code {
        name: section.name.clone(),
        instructions,
        functions,
        references: Vec::new(),
        section: number,
    })
}

/// Sorts functions by their places, of which none may overlap another.
fn sort(section: &str, functions: &mut [Function]) -> Result<(), ObjectError> {
    functions.sort_by_key(|function| function.start);
    let mut pairs = functions.iter().zip(functions.iter().skip(1));
    match pairs.find(|(a, b)| a.start + a.length > b.start) {
        Some((one, other)) => {
            let why = format!("the functions {} and {} overlap", one.name, other.name);
            Err(ObjectError::section(section, why))
        }
        None => Ok(()),
    }
}

/// Makes a section of instructions that come from elsewhere.
pub fn assemble(
    instructions: Vec<Instruction>,
    mut functions: Vec<Function>,
) -> Result<Code, ObjectError> {
    let name = "assembled".to_owned();
    let is_inside = |each: &Function| {
        each.length > 0
            && each.start.checked_add(each.length).is_some_and(|end| end <= instructions.len())
    };
    if let Some(wrong) = functions.iter().find(|each| !is_inside(each)) {
        let why = format!("the function {} is not inside", wrong.name);
        return Err(ObjectError::section(&name, why));
    }
    sort(&name, &mut functions)?;
    let code = Code { name, instructions, functions, references: Vec::new(), section: 0 };
    let references = calls_within(std::slice::from_ref(&code), 0, Vec::new())?;
    Ok(Code { references, ..code })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it is at most the length of a section in memory"
)]
fn place(number: u64) -> usize {
    number as usize
}

impl Places<'_> {
    /// What the instructions of `code[index]` refer to: what relocations say, and calls within the section.
    fn references(&self, code: &[Code], index: usize) -> Result<Vec<Reference>, ObjectError> {
        let of = &code[index];
        let wrong = |why: String| ObjectError::section(&of.name, why);
        let mut found = Vec::new();
        for relocation in &self.elf.sections[of.section].relocations {
            let at = place(relocation.offset / BYTES as u64);
            let Some(instruction) =
                of.instructions.get(at).filter(|_| relocation.offset.is_multiple_of(BYTES as u64))
            else {
                return Err(wrong(format!(
                    "a relocation is for byte {}, which is not an instruction",
                    relocation.offset
                )));
            };
            let target = self.target(code, instruction, relocation).ok_or_else(|| {
                let symbol = &self.elf.symbols[relocation.symbol];
                wrong(format!(
                    "instruction {at} refers to {}, which cannot be used",
                    describe(symbol)
                ))
            })?;
            found.push(Reference { at, target });
        }
        calls_within(code, index, found)
    }

    fn target(
        &self,
        code: &[Code],
        instruction: &Instruction,
        relocation: &Relocation,
    ) -> Option<Target> {
        let symbol = &self.elf.symbols[relocation.symbol];
        let Some(section) = symbol.section else {
            let outside = self.outside.iter().position(|each| each.symbol == relocation.symbol)?;
            return Some(Target::Outside(outside));
        };
        // A call counts instructions from the next one, an address bytes.
        let beyond = match instruction.code {
            CALL => (i64::from(instruction.immediate) + 1).checked_mul(BYTES.try_into().ok()?)?,
            LOAD_64 => instruction.immediate.into(),
            _ => return None,
        };
        let offset = symbol.offset.checked_add_signed(beyond)?;
        if let Some(index) = code.iter().position(|each| each.section == section) {
            return function_at(code, index, usize::try_from(offset / BYTES as u64).ok()?);
        }
        if let Some(data) = self.data.iter().position(|each| each.section == section) {
            return Some(Target::Data { data, offset });
        }
        let is_maps = self.elf.sections.get(section)?.name == ".maps";
        let map = is_maps.then(|| self.maps.iter().position(|each| each.offset == offset));
        map.flatten().map(Target::Map)
    }
}

/// Adds the calls within `code[index]` to what is referred to in it.
fn calls_within(
    code: &[Code],
    index: usize,
    mut found: Vec<Reference>,
) -> Result<Vec<Reference>, ObjectError> {
    found.sort_by_key(|reference| reference.at);
    let known: Vec<_> = found.iter().map(|reference| reference.at).collect();
    for (at, instruction) in code[index].instructions.iter().enumerate() {
        if !instruction.calls_function() || known.binary_search(&at).is_ok() {
            continue;
        }
        let to = i64::try_from(at).ok().map(|at| at + 1 + i64::from(instruction.immediate));
        let target = to.and_then(|to| function_at(code, index, usize::try_from(to).ok()?));
        let target = target.ok_or_else(|| {
            let why = format!("instruction {at} calls what is not a function");
            ObjectError::section(&code[index].name, why)
        })?;
        found.push(Reference { at, target });
    }
    found.sort_by_key(|reference| reference.at);
    Ok(found)
}

fn function_at(code: &[Code], index: usize, start: usize) -> Option<Target> {
    let functions = &code.get(index)?.functions;
    let function = functions.binary_search_by_key(&start, |function| function.start).ok()?;
    Some(Target::Function { code: index, function })
}

fn describe(symbol: &Symbol) -> String {
    if symbol.name.is_empty() { "something without a name".to_owned() } else { symbol.name.clone() }
}
