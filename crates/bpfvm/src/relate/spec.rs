// SPDX-License-Identifier: GPL-2.0-only
//! The way from a type to one of its fields, in an object's types and in a kernel's.

use std::sync::Arc;

use btf::{Btf, Kind, Member, TypeId};

use super::compatible::are_fields_compatible;
use super::types::Types;
use super::words::describe_type;

/// Structs without a name inside each other, deeper than any type has.
const DEEPEST: usize = 16;

/// A way, and where it ends.
#[derive(Debug, Clone)]
pub struct Spec {
    pub steps: Vec<Step>,
    /// From the beginning of the root, or of the element of an array of roots.
    pub bits: u64,
}

/// A step into a struct or an array.
#[derive(Debug, Clone)]
pub struct Step {
    /// The struct that the field is in, or the type of the element.
    pub of: TypeId,
    /// The number of the field or of the element.
    pub index: u32,
    /// The name, if it is a field.
    pub name: Option<Arc<str>>,
}

impl Spec {
    /// Reads a way such as `0:3:1` in the types of an object. None for one that leads nowhere.
    pub fn read(btf: &Btf, root: TypeId, access: &str) -> Option<Self> {
        let mut numbers = access.split(':').map(|number| number.parse::<u32>().ok());
        let first = numbers.next()??;
        let mut at = btf.resolve(root);
        let mut bits = bits_of(btf, at).unwrap_or(0).checked_mul(first.into())?;
        let mut steps = vec![Step { of: at, index: first, name: None }];
        for number in numbers {
            let index = number?;
            let of = btf.resolve(at);
            match &btf.get(of).kind {
                Kind::Struct { members, .. } | Kind::Union { members, .. } => {
                    let member = members.get(index as usize)?;
                    bits = bits.checked_add(member.offset_bits.into())?;
                    if !member.name.is_empty() {
                        let name = Some(Arc::clone(&member.name));
                        steps.push(Step { of, index, name });
                    }
                    at = member.of;
                }
                Kind::Array { element, count } => {
                    // An array without a length is the end of its struct and may be longer.
                    if *count > 0 && index >= *count {
                        return None;
                    }
                    at = btf.resolve(*element);
                    bits = bits.checked_add(bits_of(btf, at)?.checked_mul(index.into())?)?;
                    steps.push(Step { of: at, index, name: None });
                }
                _ => return None,
            }
        }
        Some(Self { steps, bits })
    }

    /// Finds this way in the types of a kernel, from `root` on; None if one of the fields is not there, or is something
    /// else.
    pub fn find(&self, local: &Btf, kernel: &Types, root: TypeId) -> Result<Option<Self>, Cut> {
        let target = &kernel.btf;
        let mut at = root;
        let mut found = Self { steps: Vec::new(), bits: 0 };
        for (number, step) in self.steps.iter().enumerate() {
            let of = target.resolve(at);
            if let Some(name) = &step.name {
                let own = member(local, step).expect("it was read from these types");
                let Some((way, bits, kind)) = find_member(kernel, of, name, DEEPEST)? else {
                    return Ok(None);
                };
                if !are_fields_compatible((local, own.of), (target, kind)) {
                    return Ok(None);
                }
                found.steps.push(way);
                found.bits += bits;
                at = kind;
                continue;
            }
            at = of;
            if number > 0 {
                let Kind::Array { element, count } = target.get(of).kind else { return Ok(None) };
                if count > 0 && step.index >= count {
                    return Ok(None);
                }
                at = target.resolve(element);
            }
            let size = bits_of(target, at).unwrap_or(0);
            let Some(bits) = size.checked_mul(step.index.into()) else { return Ok(None) };
            found.bits += bits;
            found.steps.push(Step { of: at, index: step.index, name: None });
        }
        Ok(Some(found))
    }

    /// The field that the way ends at; None if it ends at an element or at the type itself.
    pub fn last_member<'a>(&self, btf: &'a Btf) -> Option<&'a Member> {
        member(btf, self.steps.last()?)
    }

    /// The way in words, such as `task_struct::scx.slice`.
    pub fn describe(&self, btf: &Btf, root: TypeId) -> String {
        let mut text = describe_type(btf, root);
        let mut between = "::";
        for (number, step) in self.steps.iter().enumerate() {
            match &step.name {
                Some(name) => text += &format!("{between}{name}"),
                None if number == 0 && step.index == 0 => continue,
                None => text += &format!("[{}]", step.index),
            }
            between = ".";
        }
        text
    }
}

/// A struct whose members are left out of a kernel's description, so that nothing can be said of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut;

fn member<'a>(btf: &'a Btf, step: &Step) -> Option<&'a Member> {
    step.name.as_ref()?;
    members(btf, step.of)?.get(step.index as usize)
}

fn members(btf: &Btf, of: TypeId) -> Option<&[Member]> {
    match &btf.get(of).kind {
        Kind::Struct { members, .. } | Kind::Union { members, .. } => Some(members),
        _ => None,
    }
}

type Found = (Step, u64, TypeId);

/// Finds a field by its name, also in structs without a name inside: the step to it, its bits from the beginning, and
/// its type.
fn find_member(kernel: &Types, of: TypeId, name: &str, left: usize) -> Result<Option<Found>, Cut> {
    let btf = &kernel.btf;
    let Some(left) = left.checked_sub(1) else { return Ok(None) };
    let Some(members) = members(btf, of) else { return Ok(None) };
    if kernel.is_cut(of) {
        return Err(Cut);
    }
    for (index, member) in (0..).zip(members) {
        let bits = u64::from(member.offset_bits);
        if &*member.name == name {
            let step = Step { of, index, name: Some(Arc::clone(&member.name)) };
            return Ok(Some((step, bits, member.of)));
        }
        if member.name.is_empty()
            && let Some((step, more, kind)) =
                find_member(kernel, btf.resolve(member.of), name, left)?
        {
            return Ok(Some((step, bits + more, kind)));
        }
    }
    Ok(None)
}

fn bits_of(btf: &Btf, of: TypeId) -> Option<u64> {
    btf.size(of)?.checked_mul(8)
}
