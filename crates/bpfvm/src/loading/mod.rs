// SPDX-License-Identifier: GPL-2.0-only
//! Whether a kernel takes an object, as far as its types, functions and tables decide that. What only the verifier can
//! find out is not decided here.

mod thing;

use std::collections::{BTreeMap, BTreeSet};

use crate::instruction::CALL;
use crate::kernel::{Kernel, Named};
use crate::object::{Code, Object, Purpose, Target, Value, Want};
use crate::reach::{Known, Memory, Place, Reached, follow};
use crate::relate::{Answer, are_compatible, ask, essential};

pub use thing::{Site, Thing};

/// What a kernel says to an object.
#[derive(Debug, Default)]
pub struct Loading {
    /// What it lacks and the object cannot do without, with the first place that comes to it.
    pub needs: BTreeMap<Thing, Option<Site>>,
    /// What it lacks and the object can only do without as long as its constants are those that it was compiled with;
    /// the program that loads it may set others.
    pub depends: BTreeMap<Thing, Option<Site>>,
    /// What it lacks and the object does without.
    pub lacks: BTreeSet<Thing>,
    /// What it has of what the object asks for.
    pub has: BTreeSet<Thing>,
    /// What its description says nothing of.
    pub unknown: BTreeSet<Thing>,
    /// Questions that make no sense.
    pub wrong: BTreeSet<String>,
}

impl Loading {
    pub fn is_refused(&self) -> bool {
        !self.needs.is_empty() || !self.wrong.is_empty()
    }
}

/// Tries an object on a kernel.
pub fn load(object: &Object, kernel: &Kernel) -> Loading {
    let mut trial =
        Trial { object, kernel, loading: Loading::default(), poisoned: BTreeMap::new() };
    let constants = trial.ask_all();
    let is_there: Vec<bool> = object.outside.iter().map(|each| trial.look_for(each)).collect();
    let left_out = trial.check_tables();
    let entries = trial.entries(&left_out);
    let [compiled, any] = [true, false].map(|is_as_compiled| {
        let memory = trial.memory(is_as_compiled);
        let known = Known { constants: constants.clone(), is_there: is_there.clone(), memory };
        trial.judge(&known, &follow(object, &known, &entries))
    });
    trial.conclude(compiled, any);
    trial.check_maps();
    trial.loading
}

struct Trial<'a> {
    object: &'a Object,
    kernel: &'a Kernel,
    loading: Loading,
    /// Instructions that must not be reached, by code and place, and what they ask for.
    poisoned: BTreeMap<(usize, usize), Thing>,
}

impl Trial<'_> {
    /// Asks all questions about types; returns the constants that instructions get.
    fn ask_all(&mut self) -> BTreeMap<(usize, usize), u64> {
        let mut constants = BTreeMap::new();
        for question in &self.object.extension.relocations {
            let code = self.object.code.iter().position(|code| code.name == question.place.section);
            let Some(code) = code else { continue };
            let place = (code, question.place.offset as usize / crate::instruction::BYTES);
            match ask(&self.object.btf, question, &self.kernel.types) {
                Ok((what, Answer::Value(value))) => {
                    constants.insert(place, value);
                    self.note_answer(question.kind, what, value);
                }
                Ok((what, Answer::Missing)) => {
                    self.note_missing(place, what);
                }
                Ok((what, Answer::Unknown(_))) => {
                    self.loading.unknown.insert(Thing::Field(what));
                }
                Err(error) => {
                    self.loading.wrong.insert(error.to_string());
                }
            }
        }
        constants
    }

    fn note_answer(&mut self, kind: btf::CoreKind, what: String, value: u64) {
        use btf::CoreKind::{EnumeratorExists, FieldExists, TypeExists, TypeIdLocal, TypeMatches};
        match kind {
            TypeIdLocal => {}
            EnumeratorExists | FieldExists | TypeExists | TypeMatches if value == 0 => {
                let thing = Thing::Field(what);
                if self.is_left_out(&thing) {
                    self.loading.unknown.insert(thing);
                } else {
                    self.loading.lacks.insert(thing);
                }
            }
            _ => {
                self.loading.has.insert(Thing::Field(what));
            }
        }
    }

    fn note_missing(&mut self, place: (usize, usize), what: String) {
        let thing = Thing::Field(what);
        if self.is_left_out(&thing) {
            self.loading.unknown.insert(thing);
        } else {
            self.poisoned.insert(place, thing);
        }
    }

    /// Whether the kernel has a type that its description leaves out as a whole.
    fn is_left_out(&self, thing: &Thing) -> bool {
        let Thing::Field(what) = thing else { return false };
        let name = what.split("::").next().unwrap_or(what);
        let name = essential(name.rsplit(' ').next().unwrap_or(name));
        self.kernel.types.named(name).next().is_none() && self.kernel.has(Named::Type, name)
    }

    /// Whether the kernel has what the object wants from outside.
    fn look_for(&mut self, each: &crate::object::Outside) -> bool {
        let name = essential(&each.name);
        let (thing, is_there) = match each.want {
            // If it may be missing, it is 0 then.
            Want::Setting(_) => {
                let is_there = self.kernel.setting(name).is_some();
                if !is_there && !each.is_weak {
                    self.loading.needs.insert(Thing::Setting(name.to_owned()), None);
                }
                return true;
            }
            Want::Function(wanted) => match self.kernel.function(name) {
                None => (Thing::Function(name.to_owned()), false),
                Some(known) => {
                    let types = &self.kernel.types.btf;
                    let fits = are_compatible((&self.object.btf, wanted), (types, known));
                    let kind = if fits { Thing::Function } else { Thing::Prototype };
                    (kind(name.to_owned()), fits)
                }
            },
            Want::Variable(of) => {
                let is_address = self.object.btf.resolve(of) == btf::TypeId::VOID;
                let known = self.kernel.types.named(name);
                let known = known
                    .filter(|(_, each)| matches!(each.kind, btf::Kind::Variable { .. }))
                    .count();
                let thing = Thing::Variable(name.to_owned());
                if is_address && known == 0 {
                    self.loading.unknown.insert(thing);
                    return true;
                }
                (thing, known > 0)
            }
        };
        if is_there {
            self.loading.has.insert(thing);
        } else if each.is_weak {
            self.loading.lacks.insert(thing);
        } else {
            self.loading.needs.insert(thing, None);
        }
        is_there
    }

    /// Looks for tables and their members; returns functions that the kernel has no use for.
    fn check_tables(&mut self) -> BTreeSet<String> {
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
    fn entries(&mut self, left_out: &BTreeSet<String>) -> Vec<(usize, usize)> {
        let mut entries = Vec::new();
        for (number, code) in self.object.code.iter().enumerate() {
            // Programs with a question mark are loaded only if somebody asks for them.
            if code.name == ".text" || code.name.starts_with('?') {
                continue;
            }
            if let Some(thing) = traced(code) {
                let Thing::Traced(name) = &thing else { unreachable!() };
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

    /// What stays as it is: constants, if they are those of the compiler, and options of the configuration.
    fn memory(&self, is_as_compiled: bool) -> Memory {
        let mut memory = Memory::default();
        for (number, data) in self.object.data.iter().enumerate() {
            if data.purpose != Purpose::Constants {
                continue;
            }
            let mut bytes: Vec<_> =
                data.bytes.iter().map(|&byte| is_as_compiled.then_some(byte)).collect();
            // Every loader fills these in from the kernel's own.
            for variable in &data.variables {
                let Some(name) = variable.name.strip_prefix("__SCX_") else { continue };
                let value = self.kernel.enumerator(&format!("SCX_{name}")).unwrap_or(0);
                let range = variable.offset..variable.offset + variable.size;
                for (at, byte) in range.zip(value.to_le_bytes()) {
                    bytes[usize::try_from(at).expect("it is inside")] = Some(byte);
                }
            }
            memory.insert(Place::Data(number), bytes);
        }
        for (number, each) in self.object.outside.iter().enumerate() {
            if let Want::Setting(_) = each.want {
                let value = self.kernel.setting(&each.name).unwrap_or(0);
                memory.insert(Place::Outside(number), value.to_le_bytes().map(Some).to_vec());
            }
        }
        memory
    }

    /// Finds what the kernel lacks where instructions are reached, with the first place.
    fn judge(&self, known: &Known, reached: &Reached) -> BTreeMap<Thing, Option<Site>> {
        let limit = self.kernel.enumerator("__BPF_FUNC_MAX_ID");
        let mut needs = BTreeMap::new();
        for (number, code) in self.object.code.iter().enumerate() {
            for (at, instruction) in code.instructions.iter().enumerate() {
                if !reached.has(number, at) {
                    continue;
                }
                let poisoned = self.poisoned.get(&(number, at)).cloned();
                let helper = instruction
                    .helper()
                    .filter(|&helper| limit.is_some_and(|limit| u64::from(helper) >= limit));
                let called = self.missing_call(code, at, known);
                for thing in poisoned.into_iter().chain(helper.map(Thing::Helper)).chain(called) {
                    needs.entry(thing).or_insert_with(|| Some(self.object.site(number, at)));
                }
            }
        }
        needs
    }

    /// The function of the kernel that an instruction calls and that is not there.
    fn missing_call(&self, code: &Code, at: usize, known: &Known) -> Option<Thing> {
        if code.instructions[at].code != CALL {
            return None;
        }
        let Some(Target::Outside(outside)) = code.target(at) else { return None };
        let name = essential(&self.object.outside[outside].name).to_owned();
        let kind =
            if self.kernel.function(&name).is_some() { Thing::Prototype } else { Thing::Function };
        (!known.is_there[outside]).then(|| kind(name))
    }

    /// Puts together what is missing: everywhere, or only with other constants than those of the compiler.
    fn conclude(
        &mut self,
        compiled: BTreeMap<Thing, Option<Site>>,
        any: BTreeMap<Thing, Option<Site>>,
    ) {
        let loading = &mut self.loading;
        for (thing, site) in compiled {
            let known = loading.needs.entry(thing).or_insert(None);
            *known = known.take().or(site);
        }
        loading
            .depends
            .extend(any.into_iter().filter(|(thing, _)| !loading.needs.contains_key(thing)));
        loading.lacks.extend(self.poisoned.values().cloned());
        loading.lacks.retain(|thing| {
            !loading.needs.contains_key(thing) && !loading.depends.contains_key(thing)
        });
    }

    fn check_maps(&mut self) {
        for map in &self.object.maps {
            let name = map.kind.name().map_or_else(|| map.kind.0.to_string(), str::to_owned);
            let constant = format!("BPF_MAP_TYPE_{}", name.to_uppercase());
            let is_there = self.kernel.enumerator(&constant).is_some();
            let thing = Thing::Map(name);
            if is_there {
                self.loading.has.insert(thing);
            } else {
                self.loading.needs.insert(thing, None);
            }
        }
    }
}

/// The function that a program is called at, if it traces one.
fn traced(code: &Code) -> Option<Thing> {
    let (kind, name) = code.name.split_once('/')?;
    let kinds = ["fentry", "fexit", "fmod_ret", "fentry.s", "fexit.s", "kprobe", "kretprobe"];
    kinds.contains(&kind).then(|| Thing::Traced(name.to_owned()))
}

impl Object {
    /// The function and the source line of an instruction.
    pub fn site(&self, code: usize, at: usize) -> Site {
        let code = &self.code[code];
        let function = code.functions.iter().rfind(|function| function.start <= at);
        let lines = self.extension.lines.iter().filter(|line| line.place.section == code.name);
        let line =
            lines.filter(|line| line.place.offset as usize / crate::instruction::BYTES <= at);
        let line = line.max_by_key(|line| line.place.offset);
        Site {
            function: function.map_or_else(String::new, |function| function.name.clone()),
            line: line.map(|line| (line.file.clone(), line.line)),
        }
    }
}
