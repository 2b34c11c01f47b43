// SPDX-License-Identifier: GPL-2.0-only
//! The script of an actor: its name, and what it does.

use crate::length::parse_count;
use crate::line::Statement;
use crate::mistake::Mistake;
use crate::resource::{Resource, require_name};
use crate::step::Step;

/// Most actors of one script: no kernel of a lab has room for more.
const MOST_OF_A_KIND: usize = 10_000;
const MOST_TIMES: usize = 1_000_000_000;

/// `NAME: STEP, STEP, ...`, or `NAME*COUNT: ...` for several that do the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub name: String,
    pub count: usize,
    pub steps: Vec<Step>,
    /// The line of each step.
    pub lines: Vec<usize>,
    pub repeat: Option<Repeat>,
    pub line: usize,
}

/// The steps from `from` on are done so often; `None` is again and again, to the end of the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeat {
    pub from: usize,
    pub times: Option<usize>,
}

impl Script {
    pub fn parse(
        statement: &Statement,
        who: &str,
        what: &str,
        resources: &[Resource],
    ) -> Result<Self, Mistake> {
        let (name, count) = match who.split_once('*') {
            Some((name, count)) => {
                (name, parse_count(count, 1..=MOST_OF_A_KIND).map_err(statement.mistake())?)
            }
            None => (who, 1),
        };
        let name = name.trim();
        require_name(name).map_err(statement.mistake())?;
        let mut script = Self {
            name: name.to_owned(),
            count,
            steps: Vec::new(),
            lines: Vec::new(),
            repeat: None,
            line: statement.line,
        };
        let mut line = statement.line;
        for words in what.split(',') {
            if words.trim().is_empty() {
                return Mistake::at(line, format!("a step of {name} is missing"));
            }
            let leading = words.chars().take_while(|letter| letter.is_whitespace());
            line += leading.filter(|&letter| letter == '\n').count();
            script.add(words.trim(), line, resources).map_err(|what| Mistake { line, what })?;
        }
        match script.again().last() {
            None if script.repeat.is_some() => Mistake::at(line, "there is nothing to repeat"),
            _ => Ok(script),
        }
    }

    fn add(&mut self, words: &str, line: usize, resources: &[Resource]) -> Result<(), String> {
        let mut split = words.split_whitespace();
        match (split.next(), split.next(), split.next()) {
            (Some("repeat"), times, None) if self.repeat.is_none() => {
                let times = times.map(|text| parse_count(text, 1..=MOST_TIMES)).transpose()?;
                self.repeat = Some(Repeat { from: self.steps.len(), times });
            }
            (Some("repeat"), _, None) => return Err(format!("{} repeats twice", self.name)),
            _ => {
                self.steps.push(Step::parse(words, resources)?);
                self.lines.push(line);
            }
        }
        Ok(())
    }

    /// The steps that are done once, before the others.
    pub fn once(&self) -> &[Step] {
        &self.steps[..self.repeat.map_or(self.steps.len(), |repeat| repeat.from)]
    }

    /// The names that it begins.
    pub fn begun(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(Step::begun)
    }

    /// The steps that are repeated.
    pub fn again(&self) -> &[Step] {
        &self.steps[self.once().len()..]
    }
}
