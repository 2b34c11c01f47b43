// SPDX-License-Identifier: GPL-2.0-only
//! What a kernel lacks where instructions are reached.

use std::collections::BTreeMap;

use super::thing::{Site, Thing};
use super::trial::Trial;
use crate::decoded::{Callee, Change, Decoded, Plain};
use crate::object::{Code, Target};
use crate::reach::Reached;
use crate::relate::essential;

impl Trial<'_> {
    /// Finds what the kernel lacks where instructions are reached, with the first place.
    pub fn judge(&self, reached: &Reached) -> BTreeMap<Thing, Option<Site>> {
        let mut needs = BTreeMap::new();
        for (number, code) in self.object.code.iter().enumerate() {
            for at in (0..code.instructions.len()).filter(|&at| reached.has(number, at)) {
                let instructions = &self.fitted.code[number];
                let decoded = Decoded::of(instructions[at], instructions.get(at + 1).copied());
                let poisoned = self.poisoned.get(&(number, at)).cloned();
                let lacked = match decoded {
                    Ok(decoded) => self.lacked(code, at, decoded),
                    Err(why) => Some(Thing::NoInstruction(why)),
                };
                for thing in poisoned.into_iter().chain(lacked) {
                    needs.entry(thing).or_insert_with(|| Some(self.object.site(number, at)));
                }
            }
        }
        needs
    }

    /// What an instruction needs and the kernel does not have.
    fn lacked(&self, code: &Code, at: usize, decoded: Decoded) -> Option<Thing> {
        match decoded {
            Decoded::Call(Callee::Helper(helper)) => {
                let limit = self.kernel.enumerator("__BPF_FUNC_MAX_ID");
                let is_there = limit.is_none_or(|limit| u64::from(helper) < limit);
                (!is_there).then_some(Thing::Helper(helper))
            }
            Decoded::Call(Callee::Function) => self.missing_call(code, at),
            // Linux 6.15 has them (include/uapi/linux/bpf.h, BPF_LOAD_ACQ).
            Decoded::Plain(Plain::Change {
                change: Change::LoadAcquire | Change::StoreRelease,
                ..
            }) => (!self.kernel.is_since(6, 15))
                .then_some(Thing::Instruction("load-acquire instructions")),
            // They came with the maps that have their tables.
            Decoded::JumpTo { .. } => {
                let is_there = self.kernel.enumerator("BPF_MAP_TYPE_INSN_ARRAY").is_some();
                (!is_there).then_some(Thing::Instruction("indirect jumps"))
            }
            _ => None,
        }
    }

    /// The function of the kernel that an instruction calls and that is not there.
    fn missing_call(&self, code: &Code, at: usize) -> Option<Thing> {
        let Some(Target::Outside(outside)) = code.target(at) else { return None };
        let name = essential(&self.object.outside[outside].name).to_owned();
        let kind =
            if self.kernel.function(&name).is_some() { Thing::Prototype } else { Thing::Function };
        (!self.is_there[outside]).then(|| kind(name))
    }
}
