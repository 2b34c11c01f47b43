// SPDX-License-Identifier: GPL-2.0-only
//! What a user, or the program that loads an object, may set in it.

use bpfvm::Object;
use bpfvm::object::{Data, Purpose, Variable};
use btf::{Btf, Kind, TypeId};
use parameters::{Allowed, Owned, Value, describe};
use serde::Serialize;

/// A number or a choice for users, as the object describes it in a tag.
#[derive(Debug, Serialize)]
pub struct Parameter {
    name: String,
    #[serde(flatten)]
    allowed: Allowed<i64, String, Vec<String>>,
    /// In the words of the range or the names.
    may_be: String,
    default: Value<i64, String>,
    sentence: String,
    /// Whether it may be changed while the object is in use.
    runtime: bool,
}

/// A variable that the program which loads the object may set.
#[derive(Debug, Serialize)]
pub struct Constant {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    bytes: u64,
    /// What it is if nobody sets it; None for anything but a number.
    default: Option<i128>,
}

/// The parameters, and in words what is wrong with descriptions of others.
pub fn list_parameters(object: &Object) -> (Vec<Parameter>, Vec<String>) {
    let (mut parameters, mut wrong) = (Vec::new(), Vec::new());
    for (data, variable) in variables(object) {
        match parameter(&object.btf, data, variable) {
            Ok(found) => parameters.extend(found),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    (parameters, wrong)
}

fn parameter(
    btf: &Btf,
    data: &Data,
    variable: &Variable,
) -> Result<Option<Parameter>, parameters::ParameterError> {
    let Some(is_signed) = is_signed(btf, variable.of) else { return Ok(None) };
    let value = number(btf, variable.of, bytes(data, variable));
    let value = value.and_then(|value| value.try_into().ok());
    let found = describe(&variable.name, &variable.tags, is_signed, value)?;
    Ok(found.map(|Owned { name, allowed, default, sentence, .. }| {
        let runtime = data.purpose != Purpose::Constants;
        Parameter { name, may_be: allowed.to_string(), allowed, default, sentence, runtime }
    }))
}

/// Whether the integers that it is made of have a sign; None for anything else, which is not a parameter.
fn is_signed(btf: &Btf, of: TypeId) -> Option<bool> {
    let element = match btf.get(btf.resolve(of)).kind {
        Kind::Array { element, .. } => element,
        _ => of,
    };
    match btf.get(btf.resolve(element)).kind {
        Kind::Int { is_signed, .. } => Some(is_signed),
        _ => None,
    }
}

/// The variables that may be set before the object is loaded; parameters and those that every loader fills in are left
/// out.
pub fn list_constants(object: &Object) -> Vec<Constant> {
    variables(object)
        .filter(|(data, _)| data.purpose == Purpose::Constants)
        // Texts of messages and values of the kernel's enums.
        .filter(|(_, each)| !each.is_static && !each.name.starts_with("__SCX_"))
        .filter(|(data, each)| !matches!(parameter(&object.btf, data, each), Ok(Some(_))))
        .map(|(data, each)| Constant {
            name: each.name.to_string(),
            kind: name_type(&object.btf, each.of),
            bytes: each.size,
            default: number(&object.btf, each.of, bytes(data, each)),
        })
        .collect()
}

fn variables(object: &Object) -> impl Iterator<Item = (&Data, &Variable)> {
    object.data.iter().flat_map(|data| data.variables.iter().map(move |each| (data, each)))
}

fn bytes<'a>(data: &'a Data, variable: &Variable) -> &'a [u8] {
    let place = |number: u64| usize::try_from(number).expect("it is inside");
    &data.bytes[place(variable.offset)..place(variable.offset + variable.size)]
}

fn number(btf: &Btf, of: TypeId, bytes: &[u8]) -> Option<i128> {
    let is_signed = match btf.get(btf.resolve(of)).kind {
        Kind::Int { is_signed, .. } | Kind::Enum { is_signed, .. } => is_signed,
        _ => return None,
    };
    let mut all = [if is_signed && bytes.last()? >> 7 == 1 { 0xff } else { 0 }; 16];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i128::from_le_bytes(all))
}

/// A type as C writes it, without what only the compiler needs to know.
fn name_type(btf: &Btf, id: TypeId) -> String {
    let each = btf.get(id);
    match &each.kind {
        Kind::Const(of) | Kind::Volatile(of) | Kind::Restrict(of) | Kind::TypeTag(of) => {
            name_type(btf, *of)
        }
        Kind::Pointer(of) => format!("{} *", name_type(btf, *of)),
        Kind::Array { element, count } => format!("{}[{count}]", name_type(btf, *element)),
        Kind::Struct { .. } => format!("struct {}", each.name),
        Kind::Union { .. } => format!("union {}", each.name),
        Kind::Enum { .. } => format!("enum {}", each.name),
        _ => each.name.to_string(),
    }
}
