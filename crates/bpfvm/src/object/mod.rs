// SPDX-License-Identifier: GPL-2.0-only
//! A compiled BPF object: its functions, maps, variables, and what it wants from outside.

mod code;
mod data;
mod elf;
mod embedded;
mod maps;
mod operations;
mod outside;

use btf::{Btf, Extension};

use crate::error::ObjectError;
use crate::instruction::Instruction;
use elf::Elf;

pub use code::{Code, Function, Reference, Target};
pub use data::{Data, Purpose, Variable};
pub use embedded::find_embedded;
pub use maps::{Map, MapKind, Shape};
pub use operations::{Operations, Value};
pub use outside::{Outside, Want};

/// What the compiler has made, with nothing of a kernel in it.
#[derive(Debug)]
pub struct Object {
    pub btf: Btf,
    /// What is said of the instructions.
    pub extension: Extension,
    pub code: Vec<Code>,
    pub maps: Vec<Map>,
    pub data: Vec<Data>,
    pub outside: Vec<Outside>,
    pub operations: Vec<Operations>,
}

impl Object {
    /// An object of instructions alone, with the places where functions begin and end; it calls none by name.
    ///
    /// # Errors
    /// A function is not inside, or an instruction calls what is none.
    pub fn of_instructions(
        instructions: Vec<Instruction>,
        functions: Vec<Function>,
    ) -> Result<Self, ObjectError> {
        let code = code::assemble(instructions, functions)?;
        Ok(Self {
            btf: Btf::from_types(Vec::new()),
            extension: Extension::default(),
            code: vec![code],
            maps: Vec::new(),
            data: Vec::new(),
            outside: Vec::new(),
            operations: Vec::new(),
        })
    }

    /// Reads an object.
    ///
    /// # Errors
    /// The bytes are something else, cut off, or have sections that contradict each other.
    pub fn parse(bytes: &[u8]) -> Result<Self, ObjectError> {
        let elf = Elf::parse(bytes)?;
        let btf = Btf::parse(elf.bytes(".BTF").ok_or(ObjectError::NoTypes)?)?;
        let extension = match elf.bytes(".BTF.ext") {
            Some(bytes) => Extension::parse(bytes, &btf)?,
            None => Extension::default(),
        };
        let maps = maps::read(&elf, &btf)?;
        let data = data::read(&elf, &btf)?;
        let outside = outside::read(&elf, &btf)?;
        let places = code::Places { elf: &elf, maps: &maps, data: &data, outside: &outside };
        let code = code::read(&places)?;
        let operations = operations::read(&elf, &btf, &code)?;
        Ok(Self { btf, extension, code, maps, data, outside, operations })
    }
}
