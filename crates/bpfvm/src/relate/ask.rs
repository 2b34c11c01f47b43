// SPDX-License-Identifier: GPL-2.0-only
//! What an object asks of a kernel's types.

use btf::{Btf, CoreKind, CoreRelocation};
use thiserror::Error;

use super::compatible::are_compatible;
use super::reply::{Answer, Reply};
use super::spec::{Cut, Spec};
use super::types::Types;
use super::words::describe_type;
use super::{field, value};

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AskedError {
    #[error("the way {access} leads nowhere in {root}")]
    Nowhere { root: String, access: String },
    #[error("the kernel has several {what}, which differ")]
    Ambiguous { what: String },
}

/// Asks a kernel.
///
/// # Errors
/// The question makes no sense in the object's own types, or the kernel has several answers.
pub fn ask(local: &Btf, question: &CoreRelocation, kernel: &Types) -> Result<Reply, AskedError> {
    let nowhere = || AskedError::Nowhere {
        root: describe_type(local, question.of),
        access: question.access.clone(),
    };
    let root = question.of;
    match question.kind {
        CoreKind::TypeIdLocal => {
            let own = u64::from(root.0);
            Ok(Reply::new(describe_type(local, root), Answer::Value(own), None))
        }
        CoreKind::TypeExists
        | CoreKind::TypeSize
        | CoreKind::TypeIdTarget
        | CoreKind::TypeMatches => {
            let found = kernel.candidates(local, root);
            let fits = found.filter(|&id| are_compatible((local, root), (&kernel.btf, id)));
            let values = fits.filter_map(|id| value::of_type(&kernel.btf, id, question.kind));
            let what = describe_type(local, root);
            let is_absent = matches!(question.kind, CoreKind::TypeExists | CoreKind::TypeMatches);
            let written = match question.kind {
                // Linkers change the numbers of types.
                CoreKind::TypeIdTarget => None,
                kind => value::of_type(local, root, kind),
            };
            Ok(Reply::new(what.clone(), one(values, is_absent, what)?, written))
        }
        CoreKind::EnumeratorExists | CoreKind::EnumeratorValue => {
            let own = value::enumerator(local, root, &question.access).ok_or_else(nowhere)?;
            let what = format!("{}::{}", describe_type(local, root), own.name);
            let found = kernel.candidates(local, root);
            let values = found.filter_map(|id| value::of_enumerator(&kernel.btf, id, &own.name));
            let is_asked = question.kind == CoreKind::EnumeratorExists;
            let values = values.map(|value| if is_asked { 1 } else { value });
            let written = if is_asked { 1 } else { own.value };
            Ok(Reply::new(what.clone(), one(values, is_asked, what)?, Some(written)))
        }
        _ => ask_field(local, question, kernel, nowhere),
    }
}

fn ask_field(
    local: &Btf,
    question: &CoreRelocation,
    kernel: &Types,
    nowhere: impl Fn() -> AskedError,
) -> Result<Reply, AskedError> {
    let root = question.of;
    let spec = Spec::read(local, root, &question.access).ok_or_else(nowhere)?;
    let what = spec.describe(local, root);
    let written = field::written(local, &spec, question.kind);
    let mut values = Vec::new();
    let mut access = None;
    for id in kernel.candidates(local, root) {
        match spec.find(local, kernel, id) {
            Ok(None) => {}
            Ok(Some(found)) => {
                values.extend(field::value(&kernel.btf, &found, question.kind));
                access = access.or_else(|| field::access((local, &spec), (&kernel.btf, &found)));
            }
            Err(Cut) => return Ok(Reply::new(what, Answer::Unknown, written)),
        }
    }
    let is_asked = question.kind == CoreKind::FieldExists;
    let answer = one(values.into_iter(), is_asked, what.clone())?;
    Ok(Reply { what, answer, written, access })
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
