// SPDX-License-Identifier: GPL-2.0-only
//! What an object holds.

use std::collections::BTreeSet;

use bpfvm::Object;
use bpfvm::object::{self, Operations, Value};
use bpfvm::outline::{FunctionNumber, find, outline};
use bpfvm::survey::Survey;
use btf::Kind;
use serde::Serialize;

/// A table of functions that the kernel gets, such as a scheduler.
#[derive(Debug, Serialize)]
pub struct Table {
    /// What it calls itself, if it has a name.
    name: Option<String>,
    /// The kernel's struct.
    of: String,
    /// The bits of `flags` by the newest kernel's names; what it has no name for is a number.
    flags: Vec<String>,
    callbacks: Vec<Callback>,
    /// Numbers other than 0, by their members.
    settings: Vec<(String, u64)>,
}

#[derive(Debug, Serialize)]
pub struct Callback {
    /// The member of the table.
    member: String,
    #[serde(flatten)]
    program: Program,
}

/// A function that the kernel calls.
#[derive(Debug, Serialize)]
pub struct Program {
    function: String,
    /// What kind of program it is and where it is called.
    section: String,
    /// The kernel counts them so: a wide one is two.
    instructions: usize,
    /// With those of all functions of the object that it can come to.
    with_calls: usize,
    /// Places that all of these jump back to.
    loops: usize,
    kernel_calls: usize,
}

#[derive(Debug, Serialize)]
pub struct Map {
    name: String,
    kind: String,
    key_bytes: u64,
    value_bytes: u64,
    entries: u64,
    /// What the number of values is multiplied by.
    each: Each,
}

/// How many values there are for each entry.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Each {
    Entry,
    EntryAndCpu,
    Task,
    Cgroup,
    /// The memory of the map is bytes or pages, not values.
    Other,
}

impl Table {
    pub fn of(object: &Object, table: &Operations, survey: &Survey) -> Self {
        let members = table.members.iter();
        let callbacks = members.clone().filter_map(|(member, value)| {
            let Value::Function(Some(function)) = value else { return None };
            let program = Program::of(object, find(object, function)?);
            Some(Callback { member: member.clone(), program })
        });
        let numbers = members.filter(|(name, _)| name != "flags" && name != "name");
        let numbers = numbers.filter_map(|(name, _)| Some((name.clone(), table.number(name)?)));
        Self {
            name: table.text("name").filter(|name| !name.is_empty()),
            of: table.of.clone(),
            flags: name_flags(table.number("flags").unwrap_or(0), survey),
            callbacks: callbacks.collect(),
            settings: numbers.filter(|(_, number)| *number != 0).collect(),
        }
    }
}

/// The names of bits that are set, by the newest kernel.
fn name_flags(flags: u64, survey: &Survey) -> Vec<String> {
    let newest = survey.kernels.last().map(|(kernel, _)| kernel);
    let known = newest.and_then(|kernel| kernel.types.named("scx_ops_flags").next());
    let mut left = flags;
    let mut names = Vec::new();
    if let Some((_, btf::Type { kind: Kind::Enum { values, .. }, .. })) = known {
        for value in values.iter().filter(|value| value.value.is_power_of_two()) {
            if left & value.value != 0 {
                left &= !value.value;
                names.push(value.name.trim_start_matches("SCX_OPS_").to_owned());
            }
        }
    }
    names.extend((left != 0).then(|| format!("{left:#x}")));
    names
}

impl Program {
    fn of(object: &Object, number: FunctionNumber) -> Self {
        let size = outline(object, number);
        let code = &object.code[number.0];
        Self {
            function: code.functions[number.1].name.clone(),
            section: code.name.clone(),
            instructions: size.instructions,
            with_calls: size.with_calls,
            loops: size.loops,
            kernel_calls: size.kernel_calls,
        }
    }
}

/// The functions in the object's tables.
pub fn in_tables(object: &Object) -> BTreeSet<&str> {
    let values = object.operations.iter().flat_map(|table| &table.members);
    values
        .filter_map(|(_, value)| match value {
            Value::Function(function) => function.as_deref(),
            Value::Bytes(_) => None,
        })
        .collect()
}

/// The programs that are in no table: those that trace, and those that user space calls.
pub fn list_others(object: &Object, called: &BTreeSet<&str>) -> Vec<Program> {
    let code = object.code.iter().enumerate().filter(|(_, code)| code.name != ".text");
    code.flat_map(|(number, code)| {
        (0..code.functions.len()).map(move |function| (number, function))
    })
    .filter(|&(code, function)| {
        !called.contains(object.code[code].functions[function].name.as_str())
    })
    .map(|number| Program::of(object, number))
    .collect()
}

impl Map {
    pub fn of(map: &object::Map) -> Self {
        let kind = map.kind.name().map_or_else(|| map.kind.0.to_string(), str::to_owned);
        let each = match &*kind {
            "task_storage" => Each::Task,
            "cgroup_storage" => Each::Cgroup,
            "arena" | "ringbuf" | "user_ringbuf" => Each::Other,
            kind if kind.contains("percpu") => Each::EntryAndCpu,
            _ => Each::Entry,
        };
        Self {
            name: map.name.clone(),
            kind,
            key_bytes: map.key.size,
            value_bytes: map.value.size,
            entries: map.entries,
            each,
        }
    }
}
