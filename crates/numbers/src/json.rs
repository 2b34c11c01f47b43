// SPDX-License-Identifier: GPL-2.0-only
//! Numbers where a JMESPath query leads to, in each JSON document that the output has.

use jmespath::{Expression, Rcvar, Variable};
use protocol::Extract;
use serde_json::{Deserializer, Value};

use crate::found::{Found, shorten};
use crate::quantity;

/// A query that leads somewhere.
pub struct Query(Expression<'static>);

impl Query {
    /// # Errors
    /// Why it leads nowhere in any document.
    pub fn new(query: &str) -> Result<Self, String> {
        jmespath::compile(query).map(Self).map_err(|error| {
            let why = error.to_string();
            format!("is not a JMESPath query: {}", why.lines().next().unwrap_or_default())
        })
    }

    /// Finds all numbers.
    pub fn find(&self, extract: &Extract, text: &str) -> Vec<Found> {
        documents(text).iter().flat_map(|document| search(&self.0, extract, document)).collect()
    }
}

/// The objects and lists that begin at the left margin; other lines are what programs print around them. Nothing counts
/// after one that breaks off or is broken below its first line: what follows may be a part of it.
fn documents(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut stream = Deserializer::from_str(rest).into_iter::<Value>();
        let begins = rest.starts_with(['{', '[']);
        match if begins { stream.next() } else { None } {
            Some(Ok(document)) => {
                found.push(document);
                rest = &rest[stream.byte_offset()..];
            }
            Some(Err(error)) if error.is_eof() || error.line() > 1 => break,
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
    fn a_part_of_a_broken_document_is_no_document() {
        let cut = "{\n  \"iops\": 1,\n  \"warm_up\":\n  {\n    \"iops\": 2\n  },\n  \"iops";
        let unindented = "[\n{\"iops\": 1},\n{\"iops\": 2},\n{\"iops\":";
        let broken = "[\n{\"iops\": nan},\n{\"iops\": 2}\n]\n";
        for text in [cut, unindented, broken] {
            assert!(documents(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_query_that_is_none_is_named() {
        assert!(Query::new("jobs[0].read.iops").is_ok());
        assert!(
            Query::new("jobs[").err().unwrap().starts_with("is not a JMESPath query: Parse error")
        );
    }
}
