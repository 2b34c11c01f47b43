// SPDX-License-Identifier: GPL-2.0-only
//! What the kernels were built with.

use std::collections::HashMap;

use super::names::Kernels;

/// Options of the kernels' configurations with their values; what is not set is not there.
#[derive(Debug, Default)]
pub struct Options(HashMap<String, Vec<(Kernels, String)>>);

impl Options {
    /// Reads lines of the kernels in hexadecimal digits, and an option with its value.
    ///
    /// # Panics
    /// A line is none: they are made together with this program.
    pub fn parse(text: &str) -> Self {
        let mut options = Self::default();
        text.lines().for_each(|line| options.add(line).expect("lines are whole"));
        options
    }

    fn add(&mut self, line: &str) -> Option<()> {
        let (kernels, option) = line.split_once(' ')?;
        let (name, value) = option.split_once('=')?;
        let kernels = Kernels::from_str_radix(kernels, 16).ok()?;
        self.0.entry(name.to_owned()).or_default().push((kernels, value.to_owned()));
        Some(())
    }

    /// The value of an option, None if it is not set.
    pub fn value(&self, kernel: usize, name: &str) -> Option<&str> {
        let values = self.0.get(name)?;
        let found = values.iter().find(|(kernels, _)| kernels >> kernel & 1 == 1);
        found.map(|(_, value)| value.as_str())
    }
}
