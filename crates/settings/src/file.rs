// SPDX-License-Identifier: GPL-2.0-only
//! One file of the kernel that has a setting.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc::O_NOFOLLOW;

use crate::form::Form;

/// Most bytes of a value: a page, as much as the kernel prints for one.
const LONGEST: u64 = 4096;

/// A file with a setting, and how it has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingFile {
    pub path: PathBuf,
    pub form: Form,
    /// The file that lists the values, if there is one.
    pub choices: Option<PathBuf>,
}

impl SettingFile {
    pub fn new(path: PathBuf, form: Form) -> Self {
        Self { path, form, choices: None }
    }

    /// The value that it has.
    ///
    /// # Errors
    /// There is no such file, it is a link, or it is not text.
    pub fn value(&self) -> io::Result<String> {
        Ok(self.form.value(&read(&self.path)?))
    }

    /// Writes `value`.
    ///
    /// # Errors
    /// The kernel does not take it.
    pub fn write(&self, value: &str) -> io::Result<()> {
        let mut options = File::options();
        options.write(true).truncate(true).custom_flags(O_NOFOLLOW);
        for text in self.form.to_write(value) {
            // In one write, as the kernel takes it.
            options.open(&self.path)?.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// The values that it can have; empty if the kernel does not tell.
    pub fn offered(&self) -> Vec<String> {
        let list = self.choices.as_ref().and_then(|path| read(path).ok());
        match list {
            Some(list) => list.split_whitespace().map(str::to_owned).collect(),
            None => read(&self.path).map(|text| self.form.offered(&text)).unwrap_or_default(),
        }
    }
}

/// Reads a file, but not through a link.
pub fn read(path: &Path) -> io::Result<String> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let opened = File::options().read(true).custom_flags(O_NOFOLLOW).open(path)?;
    let mut text = String::new();
    opened.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}
