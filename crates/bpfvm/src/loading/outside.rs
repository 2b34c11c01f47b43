// SPDX-License-Identifier: GPL-2.0-only
//! What an object wants from outside: functions, variables and settings of the kernel.

use btf::{Kind, TypeId};

use super::thing::Thing;
use super::trial::Trial;
use crate::object::{Outside, Want};
use crate::relate::{are_compatible, essential};

impl Trial<'_> {
    /// Whether the kernel has what the object wants from outside.
    pub fn look_for(&mut self, each: &Outside) -> bool {
        let name = essential(&each.name).to_owned();
        match each.want {
            Want::Setting(_) => {
                if self.kernel.setting(&each.name).is_none() && !each.is_weak {
                    self.loading.needs.insert(Thing::Setting(each.name.to_string()), None);
                }
                // If it may be missing, it is 0 then.
                true
            }
            Want::Function(wanted) => match self.kernel.function(&name) {
                None => self.note(Thing::Function(name), false, each.is_weak),
                Some(known) => {
                    let types = &self.kernel.types.btf;
                    let fits = are_compatible((&self.object.btf, wanted), (types, known));
                    let kind = if fits { Thing::Function } else { Thing::Prototype };
                    self.note(kind(name), fits, each.is_weak)
                }
            },
            Want::Variable(of) => self.look_for_variable(name, of, each.is_weak),
        }
    }

    fn look_for_variable(&mut self, name: String, of: TypeId, is_weak: bool) -> bool {
        let local = &self.object.btf;
        let of = local.resolve(of);
        let known = self.kernel.types.named(&name).find_map(|(_, each)| match each.kind {
            Kind::Variable { of, .. } => Some(of),
            _ => None,
        });
        match known {
            // Only addresses that the kernel's own table of symbols has.
            None if of == TypeId::VOID => {
                self.loading.unknown.insert(Thing::Variable(name));
                true
            }
            None => self.note(Thing::Variable(name), false, is_weak),
            // One without a type is wanted for its address.
            Some(known)
                if of == TypeId::VOID
                    || are_compatible((local, of), (&self.kernel.types.btf, known)) =>
            {
                self.note(Thing::Variable(name), true, is_weak)
            }
            // libbpf does not take that for one that is missing.
            Some(_) => self.note(Thing::VariableType(name), false, false),
        }
    }

    fn note(&mut self, thing: Thing, is_there: bool, is_weak: bool) -> bool {
        let loading = &mut self.loading;
        match (is_there, is_weak) {
            (true, _) => {
                loading.has.insert(thing);
            }
            (false, true) => {
                loading.lacks.insert(thing);
            }
            (false, false) => {
                loading.needs.insert(thing, None);
            }
        }
        is_there
    }
}
