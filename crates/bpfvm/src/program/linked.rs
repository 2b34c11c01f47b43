// SPDX-License-Identifier: GPL-2.0-only

use std::fmt::{self, Display};
use std::sync::Arc;

use super::place::{MAP_BYTES, MapPlace, Part, SectionPlace};
use super::step::Step;
use crate::loading::Site;
use crate::object::Object;

/// The value of a pointer to the function with a number, which only calls understand.
pub const FUNCTION: u64 = 0x7f00_0000_0000_0000;

/// The value of a pointer to a function of the kernel.
pub const KERNEL_FUNCTION: u64 = 0x7e00_0000_0000_0000;

/// What can be run on any machine that has the functions of the kernel that it calls.
#[derive(Debug)]
pub struct Program {
    pub object: Arc<Object>,
    pub functions: Vec<Function>,
    /// What it calls of the kernel.
    pub calls: Vec<KernelCall>,
    /// Why steps must not be reached.
    pub reasons: Vec<String>,
    /// What is in memory from the start.
    pub parts: Vec<Part>,
    pub sections: Vec<SectionPlace>,
    pub maps: Vec<MapPlace>,
    /// Bytes of the kernel's `struct cpumask`.
    pub cpumask: u64,
    /// Whether an update of an array stops timers alone, and leaves all else in the value as it is.
    pub keeps_contents: bool,
    /// The end of what is in the heap from the start.
    pub end: u64,
}

#[derive(Debug)]
pub struct Function {
    pub name: String,
    /// The section of the object's code, and where in it the function begins.
    pub code: usize,
    pub start: usize,
    /// One for each place of the section.
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KernelCall {
    Helper(u32),
    Function(Arc<str>),
}

impl Program {
    /// The number of a function.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.functions.iter().position(|function| function.name == name)
    }

    /// The number of the map that a pointer stands for.
    pub fn map_at(&self, address: u64) -> Option<usize> {
        // They lie one behind the other.
        let place = address.checked_sub(self.maps.first()?.address)?;
        let number = usize::try_from(place / MAP_BYTES).ok()?;
        (place % MAP_BYTES == 0 && number < self.maps.len()).then_some(number)
    }

    /// The source of a step of a function.
    pub fn site(&self, function: usize, step: usize) -> Site {
        let function = &self.functions[function];
        self.object.site(function.code, function.start + step)
    }
}

impl Display for KernelCall {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Helper(number) => write!(to, "helper {number}"),
            Self::Function(name) => write!(to, "{name}()"),
        }
    }
}
