// SPDX-License-Identifier: GPL-2.0-only
//! A scene whose parts fit together.

use std::time::Duration;

use crate::resource::Resource;
use crate::script::Script;
use crate::step::Step;

#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// When all actors end that have not ended before.
    pub lasts: Duration,
    pub resources: Vec<Resource>,
    pub scripts: Vec<Script>,
}

impl Scene {
    /// The scripts that nobody begins: they begin with the scene.
    pub fn cast(&self) -> impl Iterator<Item = &Script> {
        self.scripts.iter().filter(|script| self.beginners(&script.name).next().is_none())
    }

    /// The script of this name, and its place among all.
    pub fn find(&self, name: &str) -> Option<(usize, &Script)> {
        self.scripts.iter().enumerate().find(|(_, script)| script.name == name)
    }

    /// The scripts that begin the one of this name.
    pub fn beginners<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Script> {
        self.scripts.iter().filter(move |script| script.begun().any(|begun| begun == name))
    }

    /// Whether the script is begun as a thread.
    pub fn is_thread(&self, script: &Script) -> bool {
        let as_thread = Step::Thread(script.name.clone());
        self.beginners(&script.name).any(|other| other.steps.contains(&as_thread))
    }

    /// Whether the script begins itself, by others or at once.
    pub fn begins_itself(&self, script: &Script) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut next: Vec<&str> = script.begun().collect();
        while let Some(name) = next.pop() {
            if name == script.name {
                return true;
            }
            if !seen.contains(&name) {
                seen.push(name);
                next.extend(self.find(name).into_iter().flat_map(|(_, found)| found.begun()));
            }
        }
        false
    }
}
