// SPDX-License-Identifier: GPL-2.0-only

use std::collections::VecDeque;

/// Lines that are kept; a program that prints without an end must not fill the memory.
const MOST: usize = 10_000;

/// What programs have printed and nobody has taken: the last lines, and how many were lost before them.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Printed {
    pub lines: VecDeque<String>,
    pub lost: u64,
}

impl Printed {
    pub fn add(&mut self, line: String) {
        if self.lines.len() == MOST {
            self.lines.pop_front();
            self.lost += 1;
        }
        self.lines.push_back(line);
    }
}
