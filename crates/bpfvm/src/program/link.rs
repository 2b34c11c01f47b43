// SPDX-License-Identifier: GPL-2.0-only

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::linked::{FUNCTION, Function, KERNEL_FUNCTION, KernelCall, Program};
use super::place::{Places, lay_out};
use super::step::Step;
use crate::decoded::{Callee, Decoded};
use crate::kernel::Kernel;
use crate::loading::Trial;
use crate::object::{self, Object, Target, Want};
use crate::relate::essential;

/// Makes an object ready to run on a kernel. `variable` gives the addresses of the kernel's variables. What the kernel
/// lacks stops the program where it comes to it, and not before.
pub fn link(
    object: &Arc<Object>,
    kernel: &Kernel,
    variable: &dyn Fn(&str) -> Option<u64>,
) -> Program {
    let numbers = (0..object.code.len())
        .flat_map(|code| (0..object.code[code].functions.len()).map(move |each| (code, each)));
    let linker = Linker {
        object,
        trial: Trial::begin(object, kernel),
        places: lay_out(object, kernel),
        kernel,
        variable,
        numbers: numbers.zip(0..).collect(),
        calls: Vec::new(),
        known: HashMap::new(),
        reasons: Vec::new(),
    };
    linker.link()
}

struct Linker<'a> {
    object: &'a Arc<Object>,
    trial: Trial<'a>,
    places: Places,
    kernel: &'a Kernel,
    variable: &'a dyn Fn(&str) -> Option<u64>,
    /// The numbers of functions by code and function.
    numbers: BTreeMap<(usize, usize), usize>,
    calls: Vec<KernelCall>,
    known: HashMap<KernelCall, usize>,
    reasons: Vec<String>,
}

impl Linker<'_> {
    fn link(mut self) -> Program {
        let mut functions = Vec::new();
        for (number, code) in self.object.code.iter().enumerate() {
            for each in &code.functions {
                let steps = (0..each.length).map(|place| self.step(number, each, place));
                functions.push(Function {
                    name: each.name.clone(),
                    code: number,
                    start: each.start,
                    steps: steps.collect(),
                });
            }
        }
        let Places { parts, sections, maps, end, .. } = self.places;
        let Self { calls, reasons, kernel, .. } = self;
        Program {
            object: Arc::clone(self.object),
            functions,
            calls,
            reasons,
            parts,
            sections,
            maps,
            cpumask: kernel.size("cpumask").unwrap_or(0),
            // 7.0 frees what the value owned; 7.2 does not (kernel/bpf/arraymap.c, `array_map_update_elem`).
            keeps_contents: kernel.is_since(7, 1),
            end,
        }
    }

    /// The step at a place of a function.
    fn step(&mut self, code: usize, function: &object::Function, place: usize) -> Step {
        let at = function.start + place;
        if let Some(thing) = self.trial.poisoned.get(&(code, at)) {
            let reason = format!("the kernel has no {thing}");
            return self.never(reason);
        }
        if self.trial.unanswered.contains(&(code, at)) {
            return self.never("the kernel's description does not say what it asks for".into());
        }
        let instructions = &self.trial.fitted.code[code][..function.start + function.length];
        // The second half of a wide one, to which no jump may lead.
        if place > 0 && instructions[at - 1].is_wide() && instructions[at].code == 0 {
            return self.never("it comes to the second half of an instruction".into());
        }
        let target = self.object.code[code].target(at);
        let to = |distance: i64| {
            let to = i64::try_from(place).ok()?.checked_add(1)?.checked_add(distance)?;
            usize::try_from(to).ok().filter(|&to| to < function.length)
        };
        let away = "it jumps out of its function";
        let decoded = Decoded::of(instructions[at], instructions.get(at + 1).copied());
        let step = match decoded {
            Err(why) => Err(why.to_string()),
            Ok(Decoded::Plain(plain)) => Ok(Step::Plain(plain)),
            Ok(Decoded::Exit) => Ok(Step::Exit),
            Ok(Decoded::LoadWide { destination, value }) => {
                self.address(value, target).map(|value| Step::Set { destination, value })
            }
            Ok(Decoded::Jump { distance }) => {
                to(distance).map(|to| Step::Jump { to }).ok_or_else(|| away.into())
            }
            Ok(Decoded::JumpIf { condition, distance }) => {
                to(distance).map(|to| Step::JumpIf { condition, to }).ok_or_else(|| away.into())
            }
            Ok(Decoded::JumpIfLong { distance }) => {
                to(distance).map(|to| Step::JumpIfLong { to }).ok_or_else(|| away.into())
            }
            Ok(Decoded::JumpTo { .. }) => Err("indirect jumps are not run here".into()),
            Ok(Decoded::Call(Callee::Helper(helper))) => {
                Ok(self.call_kernel(KernelCall::Helper(helper)))
            }
            Ok(Decoded::Call(Callee::Function)) => self.call(target),
        };
        step.unwrap_or_else(|why| self.never(why))
    }

    fn never(&mut self, reason: String) -> Step {
        self.reasons.push(reason);
        Step::Never(self.reasons.len() - 1)
    }

    /// What a wide instruction loads.
    fn address(&mut self, value: u64, target: Option<Target>) -> Result<u64, String> {
        Ok(match target {
            None => value,
            Some(Target::Function { code, function }) => {
                FUNCTION | self.numbers[&(code, function)] as u64
            }
            Some(Target::Data { data, offset }) => {
                self.places.sections[data].address.wrapping_add(offset)
            }
            Some(Target::Map(map)) => self.places.maps[map].address,
            Some(Target::Outside(outside)) => self.outside(outside)?,
        })
    }

    /// The address of something of the kernel; 0 if it is not there and may be missing.
    fn outside(&mut self, outside: usize) -> Result<u64, String> {
        if let Some(setting) = self.places.settings[outside] {
            return Ok(setting);
        }
        let each = &self.object.outside[outside];
        let name = essential(&each.name);
        if !self.trial.is_there[outside] {
            return if each.is_weak { Ok(0) } else { Err(format!("the kernel has no {name}")) };
        }
        match each.want {
            Want::Function(_) => {
                let call = self.number_call(KernelCall::Function(Arc::from(name)));
                Ok(KERNEL_FUNCTION | call as u64)
            }
            _ => (self.variable)(name)
                .ok_or_else(|| format!("the kernel's variable {name} is not there here")),
        }
    }

    fn call(&mut self, target: Option<Target>) -> Result<Step, String> {
        match target {
            Some(Target::Function { code, function }) => {
                Ok(Step::Call(self.numbers[&(code, function)]))
            }
            Some(Target::Outside(outside)) => {
                let name = essential(&self.object.outside[outside].name);
                if !self.trial.is_there[outside] {
                    return Err(format!("the kernel has no {name}()"));
                }
                Ok(self.call_kernel(KernelCall::Function(Arc::from(name))))
            }
            _ => Err("it calls what is not a function".into()),
        }
    }

    fn call_kernel(&mut self, call: KernelCall) -> Step {
        Step::CallKernel(self.number_call(call))
    }

    fn number_call(&mut self, call: KernelCall) -> usize {
        if let Some(&known) = self.known.get(&call) {
            return known;
        }
        self.calls.push(call.clone());
        self.known.insert(call, self.calls.len() - 1);
        self.calls.len() - 1
    }
}
