// SPDX-License-Identifier: GPL-2.0-only
//! Which instructions of an object a kernel can come to. What an object asks of the kernel is a constant once it is
//! loaded, and what stands behind a question with the answer "no" is never run: that is how one object has several
//! versions of a thing.

mod memory;
mod state;

use std::collections::BTreeMap;

use crate::instruction::{EXIT, Instruction, LOAD_64, SOURCE};
use crate::object::{Code, Object, Target};
use crate::semantics::{immediate, is_taken};
pub use memory::{Memory, Place};
use state::{State, Value};

/// What is known of an object's questions once it is for a certain kernel.
#[derive(Debug)]
pub struct Known {
    /// By code and place: the constant that the instruction gets.
    pub constants: BTreeMap<(usize, usize), u64>,
    /// Whether the kernel has each of the things that the object wants from outside.
    pub is_there: Vec<bool>,
    pub memory: Memory,
}

/// The instructions that can be reached, by code and place.
#[derive(Debug)]
pub struct Reached(Vec<Vec<bool>>);

impl Reached {
    pub fn has(&self, code: usize, at: usize) -> bool {
        self.0.get(code).and_then(|code| code.get(at)).copied().unwrap_or(false)
    }

    /// How many instructions of a function are reached; a wide one counts once.
    pub fn count(&self, code: usize, start: usize, length: usize) -> usize {
        let places = self.0.get(code).and_then(|code| code.get(start..start + length));
        places.map_or(0, |places| places.iter().filter(|&&is| is).count())
    }
}

/// Follows the object from the functions `entries`, given by code and function.
pub fn follow(object: &Object, known: &Known, entries: &[(usize, usize)]) -> Reached {
    let mut reached =
        Reached(object.code.iter().map(|code| vec![false; code.instructions.len()]).collect());
    let mut waiting = entries.to_vec();
    while let Some((code, function)) = waiting.pop() {
        let start = object.code[code].functions[function].start;
        if reached.has(code, start) {
            continue;
        }
        let mut walk = Walk {
            code: &object.code[code],
            index: code,
            known,
            states: BTreeMap::new(),
            called: Vec::new(),
        };
        walk.run(start);
        walk.states.keys().for_each(|&at| reached.0[code][at] = true);
        waiting.extend(walk.called);
    }
    reached
}

/// One function, followed until nothing new is found.
struct Walk<'a> {
    code: &'a Code,
    index: usize,
    known: &'a Known,
    /// What is known before each instruction that was reached.
    states: BTreeMap<usize, State>,
    called: Vec<(usize, usize)>,
}

impl Walk<'_> {
    fn run(&mut self, start: usize) {
        let mut waiting = vec![(start, State::at_entry())];
        while let Some((at, state)) = waiting.pop() {
            let Some(&instruction) = self.code.instructions.get(at) else { continue };
            let state = match self.states.get(&at) {
                None => state,
                Some(known) => match known.join(&state) {
                    Some(more) => more,
                    None => continue,
                },
            };
            self.states.insert(at, state.clone());
            self.step(at, instruction, state, &mut waiting);
        }
    }

    fn step(
        &mut self,
        at: usize,
        instruction: Instruction,
        mut state: State,
        waiting: &mut Vec<(usize, State)>,
    ) {
        let target = self.code.target(at);
        if let Some(Target::Function { code, function }) = target {
            self.called.push((code, function));
        }
        if instruction.code == EXIT {
            return;
        }
        if instruction.is_wide() {
            state.set(instruction.destination, self.wide(at, instruction, target));
            waiting.push((at + 2, state));
            return;
        }
        if let Some(distance) = instruction.jump() {
            return self.branch(at, distance, instruction, state, waiting);
        }
        match self.known.constants.get(&(self.index, at)) {
            // The compiler leaves room for the answer in a move.
            Some(&constant)
                if instruction.code & SOURCE == 0 && instruction.code & 0xf0 == 0xb0 =>
            {
                state.set(instruction.destination, Value::Known(constant));
            }
            _ => state.run(instruction, &self.known.memory),
        }
        waiting.push((at + 1, state));
    }

    fn wide(&self, at: usize, instruction: Instruction, target: Option<Target>) -> Value {
        debug_assert_eq!(instruction.code, LOAD_64);
        match target {
            Some(Target::Outside(outside)) if !self.known.is_there[outside] => Value::Known(0),
            Some(Target::Outside(outside)) => self.address(Place::Outside(outside), 0),
            Some(Target::Data { data, offset }) => self.address(Place::Data(data), offset),
            Some(_) => Value::NotZero,
            None => {
                let high = self.code.instructions.get(at + 1).map_or(0, |next| next.immediate);
                let low = instruction.immediate.cast_unsigned();
                let written = u64::from(high.cast_unsigned()) << 32 | u64::from(low);
                Value::Known(
                    self.known.constants.get(&(self.index, at)).copied().unwrap_or(written),
                )
            }
        }
    }

    fn address(&self, place: Place, at: u64) -> Value {
        let is_known = self.known.memory.has(place);
        if is_known { Value::Address(place, at) } else { Value::NotZero }
    }

    fn branch(
        &self,
        at: usize,
        distance: i64,
        instruction: Instruction,
        state: State,
        waiting: &mut Vec<(usize, State)>,
    ) {
        let there = i64::try_from(at).ok().and_then(|at| usize::try_from(at + 1 + distance).ok());
        let constant = self.known.constants.get(&(self.index, at)).copied();
        let right = match instruction.code & SOURCE {
            0 => Value::Known(constant.unwrap_or_else(|| immediate(instruction))),
            _ => state.get(instruction.source),
        };
        let left = state.get(instruction.destination);
        let goes = decide(instruction, left, right);
        let [mut taken, mut not] = [state.clone(), state];
        if let Value::Known(_) = right {
            // 64 bits are compared, so that the register is known afterwards.
            match instruction.code & 0xf7 {
                0x15 => taken.set(instruction.destination, right),
                0x55 => not.set(instruction.destination, right),
                _ => {}
            }
        }
        if goes != Some(false)
            && let Some(there) = there
        {
            waiting.push((there, taken));
        }
        if goes != Some(true) {
            waiting.push((at + 1, not));
        }
    }
}

/// Whether a jump is taken; None if both can be.
fn decide(instruction: Instruction, left: Value, right: Value) -> Option<bool> {
    match (instruction.code, left, right) {
        (0x05 | 0x06, ..) => Some(true),
        (_, Value::Known(left), Value::Known(right)) => is_taken(instruction, left, right),
        (0x15 | 0x1d, Value::NotZero | Value::Address(..), Value::Known(0)) => Some(false),
        (0x55 | 0x5d, Value::NotZero | Value::Address(..), Value::Known(0)) => Some(true),
        _ => None,
    }
}
