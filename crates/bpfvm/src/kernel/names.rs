// SPDX-License-Identifier: GPL-2.0-only
//! The names of everything that the kernels have. Descriptions leave most types and functions out; these say that a
//! kernel has them nevertheless.

use std::collections::HashMap;

/// What has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Named {
    Type,
    /// A function that can be traced.
    Function,
}

/// Which kernels have what, by their numbers.
#[derive(Debug, Default)]
pub struct Names {
    named: HashMap<(Named, String), Kernels>,
}

/// A bit for each kernel.
pub type Kernels = u32;

impl Names {
    /// Reads lines of a letter, the kernels in hexadecimal digits, and a name.
    ///
    /// # Panics
    /// A line is none: they are made together with this program.
    pub fn parse(text: &str) -> Self {
        let mut names = Self::default();
        text.lines().for_each(|line| names.add(line).expect("lines are whole"));
        names
    }

    fn add(&mut self, line: &str) -> Option<()> {
        let (letter, rest) = line.split_once(' ')?;
        let (kernels, name) = rest.split_once(' ')?;
        let kernels = Kernels::from_str_radix(kernels, 16).ok()?;
        let named = match letter {
            "t" => Named::Type,
            "f" => Named::Function,
            _ => return None,
        };
        self.named.insert((named, name.to_owned()), kernels);
        Some(())
    }

    pub fn has(&self, kernel: usize, named: Named, name: &str) -> bool {
        let kernels = self.named.get(&(named, name.to_owned()));
        kernels.is_some_and(|kernels| kernels >> kernel & 1 == 1)
    }
}
