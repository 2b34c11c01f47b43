// SPDX-License-Identifier: GPL-2.0-only
//! The types of a kernel by their names, and the answers to what an object asks.

use std::collections::HashMap;

use btf::{Btf, CoreKind, CoreRelocation, TypeId};
use thiserror::Error;

use super::compatible::are_compatible;
use super::names::essential;
use super::spec::{Cut, Spec};
use super::words::describe_type;
use super::{field, value};

/// A kernel's types, found by name.
#[derive(Debug)]
pub struct Types {
    pub btf: Btf,
    by_name: HashMap<String, Vec<TypeId>>,
}

impl Types {
    pub fn new(btf: Btf) -> Self {
        let mut by_name: HashMap<String, Vec<TypeId>> = HashMap::new();
        for (id, each) in btf.iter().filter(|(_, each)| !each.name.is_empty()) {
            by_name.entry(essential(&each.name).to_owned()).or_default().push(id);
        }
        Self { btf, by_name }
    }

    /// The types with this name, without flavours on both sides.
    pub fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = (TypeId, &'a btf::Type)> {
        let found = self.by_name.get(essential(name)).map_or(&[][..], Vec::as_slice);
        found.iter().map(|&id| (id, self.btf.get(id)))
    }

    /// The types that one of an object can stand for: of its name and kind.
    fn candidates<'a>(&'a self, local: &'a Btf, root: TypeId) -> impl Iterator<Item = TypeId> {
        let own = local.get(root);
        self.named(&own.name)
            .filter(|(_, each)| {
                std::mem::discriminant(&each.kind) == std::mem::discriminant(&own.kind)
            })
            .map(|(id, _)| id)
    }
}

/// What a kernel answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// What the instruction gets instead of what the compiler has written.
    Value(u64),
    /// The kernel does not have it: the instruction must not be reached.
    Missing,
    /// The description of the kernel leaves out this struct's members.
    Unknown(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AskedError {
    #[error("the way {access} leads nowhere in {root}")]
    Nowhere { root: String, access: String },
    #[error("the kernel has several {what}, which differ")]
    Ambiguous { what: String },
}

/// A question in words, and its answer.
///
/// # Errors
/// The question makes no sense in the object's own types, or the kernel has several answers.
pub fn ask(
    local: &Btf,
    question: &CoreRelocation,
    kernel: &Types,
) -> Result<(String, Answer), AskedError> {
    let nowhere = || AskedError::Nowhere {
        root: describe_type(local, question.of),
        access: question.access.clone(),
    };
    let root = question.of;
    match question.kind {
        CoreKind::TypeIdLocal => Ok((describe_type(local, root), Answer::Value(root.0.into()))),
        CoreKind::TypeExists
        | CoreKind::TypeSize
        | CoreKind::TypeIdTarget
        | CoreKind::TypeMatches => {
            let found = kernel.candidates(local, root);
            let fits = found.filter(|&id| are_compatible((local, root), (&kernel.btf, id)));
            let values = fits.filter_map(|id| value::of_type(&kernel.btf, id, question.kind));
            let what = describe_type(local, root);
            let is_absent = matches!(question.kind, CoreKind::TypeExists | CoreKind::TypeMatches);
            Ok((what.clone(), one(values, is_absent, what)?))
        }
        CoreKind::EnumeratorExists | CoreKind::EnumeratorValue => {
            let own = value::enumerator(local, root, &question.access).ok_or_else(nowhere)?;
            let what = format!("{}::{own}", describe_type(local, root));
            let found = kernel.candidates(local, root);
            let values = found.filter_map(|id| value::of_enumerator(&kernel.btf, id, own));
            let is_asked = question.kind == CoreKind::EnumeratorExists;
            let values = values.map(|value| if is_asked { 1 } else { value });
            Ok((what.clone(), one(values, is_asked, what)?))
        }
        _ => ask_field(local, question, kernel, nowhere),
    }
}

fn ask_field(
    local: &Btf,
    question: &CoreRelocation,
    kernel: &Types,
    nowhere: impl Fn() -> AskedError,
) -> Result<(String, Answer), AskedError> {
    let root = question.of;
    let spec = Spec::read(local, root, &question.access).ok_or_else(nowhere)?;
    let what = spec.describe(local, root);
    let mut values = Vec::new();
    for id in kernel.candidates(local, root) {
        match spec.find(local, &kernel.btf, id) {
            Ok(None) => {}
            Ok(Some(found)) => values.extend(field::value(&kernel.btf, &found, question.kind)),
            Err(Cut(of)) => return Ok((what, Answer::Unknown(of))),
        }
    }
    let is_asked = question.kind == CoreKind::FieldExists;
    Ok((what.clone(), one(values.into_iter(), is_asked, what)?))
}

/// The one value that all agree on. What is only asked for has the answer 0 if it is not there.
fn one(
    mut values: impl Iterator<Item = u64>,
    is_asked: bool,
    what: String,
) -> Result<Answer, AskedError> {
    let Some(first) = values.next() else {
        return Ok(if is_asked { Answer::Value(0) } else { Answer::Missing });
    };
    if values.any(|other| other != first) {
        return Err(AskedError::Ambiguous { what });
    }
    Ok(Answer::Value(first))
}
