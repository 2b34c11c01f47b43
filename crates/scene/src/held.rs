// SPDX-License-Identifier: GPL-2.0-only
//! Locks that an actor holds on its way through its script.

use std::collections::BTreeSet;

use crate::mistake::Mistake;
use crate::scene::Scene;
use crate::script::Script;
use crate::step::Step;

/// Refuses scripts that take a lock that they hold, give one away that they do not hold, or end or
/// begin anew with one.
pub fn require_balance(scene: &Scene, script: &Script) -> Result<(), Mistake> {
    let mut held = BTreeSet::new();
    let name = |lock: usize| &scene.resources[lock].name;
    let who = &script.name;
    let repeats = script.once().len();
    let mut before = held.clone();
    for (index, (step, &line)) in script.steps.iter().zip(&script.lines).enumerate() {
        if index == repeats {
            before.clone_from(&held);
        }
        match step {
            Step::Lock(lock) if !held.insert(*lock) => {
                return Mistake::at(line, format!("{who} holds {} already", name(*lock)));
            }
            Step::Unlock(lock) if !held.remove(lock) => {
                return Mistake::at(line, format!("{who} does not hold {}", name(*lock)));
            }
            _ => {}
        }
    }
    let last = script.lines.last().copied().unwrap_or(script.line);
    if let Some(lock) = held.difference(&before).next().filter(|_| repeats < script.steps.len()) {
        let why = "when it begins again: unlock it before";
        return Mistake::at(last, format!("{who} still holds {} {why}", name(*lock)));
    }
    if before.difference(&held).next().is_some() && repeats < script.steps.len() {
        return Mistake::at(last, format!("{who} unlocks again and again what it locks once"));
    }
    match held.first() {
        // To the end of the scene.
        Some(_) if script.repeat.is_some_and(|repeat| repeat.times.is_none()) => Ok(()),
        Some(lock) => Mistake::at(last, format!("{who} ends and still holds {}", name(*lock))),
        None => Ok(()),
    }
}
