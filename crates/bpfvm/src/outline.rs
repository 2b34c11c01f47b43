// SPDX-License-Identifier: GPL-2.0-only
//! How large the functions of an object are, and what they call.

use std::collections::BTreeSet;

use crate::decoded::Decoded;
use crate::instruction::CALL;
use crate::object::{Code, Function, Object, Target};

/// A function of an object, by code and function.
pub type FunctionNumber = (usize, usize);

/// The size of a function. Instructions are counted as the kernel does: a wide one is two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outline {
    pub instructions: usize,
    /// With those of all functions of the object that it can come to, each counted once.
    pub with_calls: usize,
    /// Places that it or one of these jumps back to.
    pub loops: usize,
    /// Calls of the kernel in all of them, by functions and helpers.
    pub kernel_calls: usize,
}

/// Finds a function by its name.
pub fn find(object: &Object, name: &str) -> Option<FunctionNumber> {
    object.code.iter().enumerate().find_map(|(number, code)| {
        let function = code.functions.iter().position(|function| function.name == name);
        Some((number, function?))
    })
}

pub fn outline(object: &Object, function: FunctionNumber) -> Outline {
    let mut found = Outline::default();
    let mut waiting = vec![function];
    let mut seen = BTreeSet::new();
    while let Some((code, function)) = waiting.pop() {
        if !seen.insert((code, function)) {
            continue;
        }
        let code = &object.code[code];
        let of = &code.functions[function];
        found.with_calls += of.length;
        found.loops += heads(code, of).len();
        found.kernel_calls += kernel_calls(code, of);
        waiting.extend(called(code, of));
    }
    found.instructions = object.code[function.0].functions[function.1].length;
    found
}

/// The places that jumps of a function lead back to.
fn heads(code: &Code, function: &Function) -> BTreeSet<usize> {
    let range = function.start..function.start + function.length;
    range
        .filter_map(|at| {
            let next = code.instructions.get(at + 1).copied();
            let distance = Decoded::of(code.instructions[at], next).ok()?.distance()?;
            let to = i64::try_from(at).ok()?.checked_add(1)?.checked_add(distance)?;
            usize::try_from(to).ok().filter(|&to| to <= at)
        })
        .collect()
}

fn kernel_calls(code: &Code, function: &Function) -> usize {
    let places = function.start..function.start + function.length;
    let calls = places.filter(|&at| code.instructions[at].code == CALL);
    calls.filter(|&at| !matches!(code.target(at), Some(Target::Function { .. }))).count()
}

/// The functions that one calls or hands to something that calls them.
fn called<'a>(code: &'a Code, function: &'a Function) -> impl Iterator<Item = FunctionNumber> + 'a {
    let range = function.start..function.start + function.length;
    code.references.iter().filter(move |reference| range.contains(&reference.at)).filter_map(
        |reference| match reference.target {
            Target::Function { code, function } => Some((code, function)),
            _ => None,
        },
    )
}
