// SPDX-License-Identifier: GPL-2.0-only
//! Which instructions of an object a kernel can come to. What an object asks of the kernel is a constant once it is
//! loaded, and what stands behind a question with the answer "no" is never run: that is how one object has several
//! versions of a thing.

mod memory;
mod state;

use std::collections::{BTreeMap, BTreeSet};

use crate::decoded::{Comparison, Condition, Decoded, Operand, Width};
use crate::instruction::Instruction;
use crate::object::{Code, Function, Object, Target};
use crate::semantics::holds;
pub use memory::{Memory, Place};
use state::{State, Value};

/// What is known of an object once it is for a certain kernel.
#[derive(Debug)]
pub struct Known<'a> {
    /// The instructions with the kernel's answers in them, a list for each section.
    pub code: &'a [Vec<Instruction>],
    /// Instructions whose answer is not known, by code and place.
    pub unanswered: &'a BTreeSet<(usize, usize)>,
    /// Whether the kernel has each of the things that the object wants from outside.
    pub is_there: &'a [bool],
    pub memory: Memory,
}

/// The instructions that can be reached, by code and place.
#[derive(Debug)]
pub struct Reached(Vec<Vec<bool>>);

impl Reached {
    pub fn has(&self, code: usize, at: usize) -> bool {
        self.0.get(code).and_then(|code| code.get(at)).copied().unwrap_or(false)
    }
}

/// Follows the object from the functions `entries`, given by code and function.
pub fn follow(object: &Object, known: &Known<'_>, entries: &[(usize, usize)]) -> Reached {
    let mut reached =
        Reached(object.code.iter().map(|code| vec![false; code.instructions.len()]).collect());
    let mut waiting = entries.to_vec();
    while let Some((code, function)) = waiting.pop() {
        let function = &object.code[code].functions[function];
        if reached.has(code, function.start) {
            continue;
        }
        let mut walk = Walk {
            of: &object.code[code],
            code,
            function,
            known,
            states: BTreeMap::new(),
            called: Vec::new(),
        };
        walk.run();
        walk.states.keys().for_each(|&at| reached.0[code][at] = true);
        waiting.extend(walk.called);
    }
    reached
}

/// One function, followed until nothing new is found.
struct Walk<'a> {
    of: &'a Code,
    code: usize,
    function: &'a Function,
    known: &'a Known<'a>,
    /// What is known before each instruction that was reached.
    states: BTreeMap<usize, State>,
    called: Vec<(usize, usize)>,
}

/// A place to go to, and what is known there.
type Next = (usize, State);

impl Walk<'_> {
    fn run(&mut self) {
        let mut waiting = vec![(self.function.start, State::at_entry())];
        while let Some((at, state)) = waiting.pop() {
            let code = &self.known.code[self.code];
            let Some(&instruction) = code.get(at) else { continue };
            let state = match self.states.get(&at) {
                None => state,
                Some(known) => match known.join(&state) {
                    Some(more) => more,
                    None => continue,
                },
            };
            self.states.insert(at, state.clone());
            // Nothing comes after what cannot be decoded.
            if let Ok(decoded) = Decoded::of(instruction, code.get(at + 1).copied()) {
                waiting.extend(self.step(at, decoded, state));
            }
        }
    }

    /// What comes after an instruction.
    fn step(&mut self, at: usize, decoded: Decoded, mut state: State) -> Vec<Next> {
        let target = self.of.target(at);
        if let Some(Target::Function { code, function }) = target {
            self.called.push((code, function));
        }
        let is_answered = !self.known.unanswered.contains(&(self.code, at));
        match decoded {
            Decoded::Exit => return Vec::new(),
            Decoded::LoadWide { destination, value } => {
                let value = if is_answered { self.wide(value, target) } else { Value::Unknown };
                state.set(destination, value);
                return vec![(at + 2, state)];
            }
            Decoded::Jump { distance } => return go(at, distance, state).collect(),
            Decoded::JumpIfLong { distance } => {
                return go(at, distance, state.clone()).chain([(at + 1, state)]).collect();
            }
            Decoded::JumpIf { condition, distance } => {
                return self.branch(at, condition, distance, state);
            }
            // Tables of places are not read: it can be any of the function's.
            Decoded::JumpTo { .. } => {
                let places = self.function.start..self.function.start + self.function.length;
                let code = &self.known.code[self.code];
                let begins = |&place: &usize| place == 0 || !code[place - 1].is_wide();
                return places.filter(begins).map(|place| (place, State::at_entry())).collect();
            }
            Decoded::Call(_) => state.call(),
            Decoded::Plain(plain) => {
                state.run(plain, &self.known.memory);
                if !is_answered {
                    state.forget(plain);
                }
            }
        }
        vec![(at + 1, state)]
    }

    fn wide(&self, value: u64, target: Option<Target>) -> Value {
        match target {
            Some(Target::Outside(outside)) if !self.known.is_there[outside] => Value::Known(0),
            Some(Target::Outside(outside)) => self.address(Place::Outside(outside), 0),
            Some(Target::Data { data, offset }) => self.address(Place::Data(data), offset),
            Some(_) => Value::NotZero,
            None => Value::Known(value),
        }
    }

    fn address(&self, place: Place, at: u64) -> Value {
        let is_known = self.known.memory.has(place);
        if is_known { Value::Address(place, at) } else { Value::NotZero }
    }

    fn branch(&self, at: usize, condition: Condition, distance: i64, state: State) -> Vec<Next> {
        let Condition { comparison, width, left, right } = condition;
        let value = match right {
            Operand::Immediate(value) => Value::Known(value),
            Operand::Register(register) => state.get(register),
        };
        let goes = decide(comparison, width, state.get(left), value);
        let [mut taken, mut not] = [state.clone(), state];
        if let (Value::Known(_), Width::Bits64, Operand::Immediate(_)) = (value, width, right) {
            // All bits are compared, so that the register is known afterwards.
            match comparison {
                Comparison::Equal => taken.set(left, value),
                Comparison::NotEqual => not.set(left, value),
                _ => {}
            }
        }
        let taken = (goes != Some(false)).then_some(taken);
        let not = (goes != Some(true)).then_some((at + 1, not));
        taken.into_iter().flat_map(|taken| go(at, distance, taken)).chain(not).collect()
    }
}

/// The place at a distance from the next one; none if that is before the first.
fn go(at: usize, distance: i64, state: State) -> impl Iterator<Item = Next> {
    let to = (at + 1).checked_add_signed(isize::try_from(distance).expect("it is of 32 bits"));
    to.map(|to| (to, state)).into_iter()
}

/// Whether a comparison holds; None if it can and can fail.
fn decide(comparison: Comparison, width: Width, left: Value, right: Value) -> Option<bool> {
    match (comparison, width, left, right) {
        (_, _, Value::Known(left), Value::Known(right)) => {
            Some(holds(comparison, width, left, right))
        }
        (
            Comparison::Equal,
            Width::Bits64,
            Value::NotZero | Value::Address(..),
            Value::Known(0),
        ) => Some(false),
        (
            Comparison::NotEqual,
            Width::Bits64,
            Value::NotZero | Value::Address(..),
            Value::Known(0),
        ) => Some(true),
        _ => None,
    }
}
