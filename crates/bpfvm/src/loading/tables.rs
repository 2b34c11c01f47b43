// SPDX-License-Identifier: GPL-2.0-only
//! The tables of functions that an object hands over, and what the kernel calls.

use std::collections::BTreeSet;

use super::thing::Thing;
use super::trial::Trial;
use crate::kernel::Named;
use crate::object::{Code, Value};
use crate::relate::essential;

impl Trial<'_> {
    /// Looks for tables and their members; returns functions that the kernel has no use for.
    pub fn check_tables(&mut self) -> BTreeSet<String> {
        let mut left_out = BTreeSet::new();
        for table in &self.object.operations {
            let Some(known) = self.kernel.members(essential(&table.of)) else {
                self.loading.needs.insert(Thing::Table(essential(&table.of).to_owned()), None);
                continue;
            };
            for (name, value) in &table.members {
                let size = known.iter().find(|(known, _)| known == name).map(|(_, size)| *size);
                self.check_member(name, value, size);
                if let (Value::Function(Some(function)), None) = (value, size) {
                    left_out.insert(function.clone());
                }
            }
        }
        left_out
    }

    /// Looks for a member of a table, which has this size in the kernel's if it is there.
    fn check_member(&mut self, name: &str, value: &Value, size: Option<Option<u64>>) {
        let thing = Thing::Operation(name.to_owned());
        match (value, size) {
            (Value::Function(None), _) => {}
            (Value::Function(Some(_)), Some(_)) => {
                self.loading.has.insert(thing);
            }
            // libbpf leaves out what the kernel does not call.
            (Value::Function(Some(_)), None) => {
                self.loading.lacks.insert(thing);
            }
            (Value::Bytes(bytes), Some(size)) if size != Some(bytes.len() as u64) => {
                self.loading.needs.insert(Thing::Size(name.to_owned()), None);
            }
            (Value::Bytes(bytes), _) if bytes.iter().all(|&byte| byte == 0) => {}
            (Value::Bytes(_), Some(_)) => {
                self.loading.has.insert(thing);
            }
            (Value::Bytes(_), None) => {
                self.loading.needs.insert(thing, None);
            }
        }
    }

    /// The functions that the kernel calls, by code and function.
    pub fn entries(&mut self, left_out: &BTreeSet<String>) -> Vec<(usize, usize)> {
        let mut entries = Vec::new();
        for (number, code) in self.object.code.iter().enumerate() {
            // Programs with a question mark are loaded only if somebody asks for them.
            if code.name == ".text" || code.name.starts_with('?') {
                continue;
            }
            if let Some(name) = traced(code) {
                let thing = Thing::Traced(name.to_owned());
                if !self.kernel.has(Named::Function, name) {
                    self.loading.lacks.insert(thing);
                    continue;
                }
                self.loading.has.insert(thing);
            }
            for (function, each) in code.functions.iter().enumerate() {
                if !left_out.contains(&each.name) {
                    entries.push((number, function));
                }
            }
        }
        entries
    }
}

/// The name of the function that a program is called at, if it traces one.
fn traced(code: &Code) -> Option<&str> {
    let (kind, name) = code.name.split_once('/')?;
    let kinds = ["fentry", "fexit", "fmod_ret", "fentry.s", "fexit.s", "kprobe", "kretprobe"];
    kinds.contains(&kind).then_some(name)
}
