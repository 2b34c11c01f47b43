// SPDX-License-Identifier: GPL-2.0-only
//! Numbers where a JMESPath query leads to, in each JSON document that the output has.

use jmespath::{Expression, Rcvar, Variable};
use protocol::Extract;
use serde_json::{Deserializer, Value};

use crate::found::{Found, shorten};
use crate::quantity;

/// Why `query` leads nowhere in any document, if so.
pub fn objection(query: &str) -> Option<String> {
    let error = jmespath::compile(query).err()?;
    let why = error.to_string();
    Some(format!("is not a JMESPath query: {}", why.lines().next().unwrap_or_default()))
}

/// Finds all numbers; none if there is an objection to the query.
pub fn find(query: &str, extract: &Extract, text: &str) -> Vec<Found> {
    let Ok(expression) = jmespath::compile(query) else { return Vec::new() };
    documents(text).iter().flat_map(|document| search(&expression, extract, document)).collect()
}

/// The objects and lists that begin a line; other lines are what programs print around them.
fn documents(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut stream = Deserializer::from_str(rest).into_iter::<Value>();
        let is_document = rest.trim_start_matches([' ', '\t']).starts_with(['{', '[']);
        match if is_document { stream.next() } else { None } {
            Some(Ok(document)) => {
                found.push(document);
                rest = &rest[stream.byte_offset()..];
            }
            _ => rest = rest.split_once('\n').map_or("", |(_, rest)| rest),
        }
    }
    found
}

fn search(expression: &Expression, extract: &Extract, document: &Value) -> Vec<Found> {
    let answer = Variable::from_serializable(document).and_then(|it| expression.search(it));
    match answer {
        Ok(answer) => list(&answer).iter().map(|each| number(each, extract)).collect(),
        Err(error) => {
            let why = error.to_string().lines().next().unwrap_or_default().to_owned();
            let line = shorten(&document.to_string()).to_owned();
            vec![Found {
                number: Err(format!("in which the query fails: {why}")),
                text: line.clone(),
                line,
            }]
        }
    }
}

/// One value, or those of a list; nothing where the query leads to nothing.
fn list(answer: &Rcvar) -> Vec<Rcvar> {
    match &**answer {
        Variable::Null => Vec::new(),
        Variable::Array(items) => items.iter().flat_map(list).collect(),
        _ => vec![answer.clone()],
    }
}

fn number(value: &Rcvar, extract: &Extract) -> Found {
    let number = match &**value {
        Variable::Number(number) => {
            number.as_f64().ok_or_else(|| "which is not a number".to_owned())
        }
        Variable::String(text) => quantity::read(text, extract),
        other => Err(format!("which is of type {}", other.get_type())),
    };
    let text = match &**value {
        Variable::String(text) => text.clone(),
        other => other.to_string(),
    };
    Found { number, line: shorten(&text).to_owned(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_among_other_lines() {
        let text =
            "fio: note: {5}\n{\n \"a\": 1\n}\n[warning] not json\n{\"a\": 2}\n{\"a\": 3}\nend\n";
        let found: Vec<_> = documents(text).iter().map(|each| each["a"].clone()).collect();
        assert_eq!(found, [1, 2, 3]);
    }

    #[test]
    fn a_query_that_is_none_is_named() {
        assert_eq!(objection("jobs[0].read.iops"), None);
        assert!(objection("jobs[").unwrap().starts_with("is not a JMESPath query: Parse error"));
    }
}
