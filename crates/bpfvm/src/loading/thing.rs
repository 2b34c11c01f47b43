// SPDX-License-Identifier: GPL-2.0-only
//! What an object asks for, and where.

use std::fmt::{self, Display};

use crate::decoded::NoInstruction;

/// Something that an object can ask a kernel for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    Function(String),
    /// A function whose parameters are others than the object expects.
    Prototype(String),
    Variable(String),
    /// A variable of another type than the object expects.
    VariableType(String),
    /// A type, a field or the value of an enum.
    Field(String),
    /// A member of a table of functions.
    Operation(String),
    /// A member other than a function, which has another size.
    Size(String),
    /// A whole table of functions.
    Table(String),
    Helper(u32),
    /// A kind of instruction, in words.
    Instruction(&'static str),
    /// Bytes that make no instruction.
    NoInstruction(NoInstruction),
    Map(String),
    /// A function that one of the object's programs is called at.
    Traced(String),
    /// An option of the configuration.
    Setting(String),
}

impl Display for Thing {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(name) => write!(to, "{name}()"),
            Self::Prototype(name) => write!(to, "{name}() with these parameters"),
            Self::Variable(name) | Self::Field(name) | Self::Setting(name) => write!(to, "{name}"),
            Self::VariableType(name) => write!(to, "{name} of this type"),
            Self::Operation(name) => write!(to, "ops.{name}"),
            Self::Size(name) => write!(to, "ops.{name} of this size"),
            Self::Table(name) => write!(to, "struct {name}"),
            Self::Instruction(name) => write!(to, "{name}"),
            Self::NoInstruction(why) => match why {
                NoInstruction::Code(code) => {
                    write!(to, "an instruction with the code {code:#04x} and these fields")
                }
                NoInstruction::Register => write!(to, "registers beyond r10"),
                NoInstruction::Half => write!(to, "an instruction without its second half"),
                NoInstruction::Packet => write!(to, "loads from packets, as programs of old had"),
            },
            Self::Helper(number) => write!(to, "helper {number}"),
            Self::Map(name) => write!(to, "maps of the kind {name}"),
            Self::Traced(name) => write!(to, "{name}(), which is traced"),
        }
    }
}

/// Where an object asks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    pub function: String,
    /// File and line of the source, if the object tells.
    pub line: Option<(String, u32)>,
}
