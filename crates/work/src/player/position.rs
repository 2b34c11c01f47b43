// SPDX-License-Identifier: GPL-2.0-only
//! How far an actor has come.

use std::time::Duration;

use scene::Script;
use serde::{Deserialize, Serialize};

/// Who an actor is, and how far it has come.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Position {
    pub name: String,
    /// The place of its script in the scene.
    pub script: usize,
    /// Whether it has a timeline, if the scene has.
    pub is_reported: bool,
    /// For the times that it draws.
    pub seed: u64,
    pub begun: Duration,
    /// The step that is next.
    pub step: usize,
    rounds: usize,
    /// When the last period of its timer began.
    pub period: Duration,
}

/// Most actors of one script that are reported; more would be too much to read.
const MOST_REPORTED: usize = 16;

impl Position {
    /// The beginning for one of the actors of a script.
    pub fn start(script: &Script, place: usize, copy: usize, seed: u64, begun: Duration) -> Self {
        let is_reported = copy < MOST_REPORTED;
        let name = match script.count {
            1 => script.name.clone(),
            _ if is_reported => format!("{}{copy}", script.name),
            // One entry for all of the others.
            _ => format!("{}*", script.name),
        };
        Self { name, script: place, is_reported, seed, begun, step: 0, rounds: 0, period: begun }
    }

    /// Comes to the next step.
    pub fn advance(&mut self, script: &Script) {
        self.step += 1;
        if self.step < script.steps.len() {
            return;
        }
        let Some(repeat) = script.repeat else { return };
        self.rounds += 1;
        if repeat.times.is_none_or(|times| self.rounds < times) {
            self.step = repeat.from;
        }
    }

    /// Comes to the end.
    pub fn end(&mut self) {
        self.step = usize::MAX;
    }
}
