// SPDX-License-Identifier: GPL-2.0-only
//! The value of a file before it was changed.

use std::path::{Path, PathBuf};

use machine::loans::Saved;
use serde::{Deserialize, Serialize};

use crate::file::SettingFile;
use crate::form::{Form, is_same};

/// A file's value as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFile {
    /// The path, which names it.
    path: String,
    form: Form,
    value: String,
}

impl SavedFile {
    pub fn new(file: &SettingFile, value: &str) -> Self {
        let path = file.path.display().to_string();
        Self { path, form: file.form, value: value.into() }
    }

    fn is_as_it_was(&self, file: &SettingFile) -> bool {
        file.value().is_ok_and(|value| is_same(&value, &self.value))
    }
}

impl Saved for SavedFile {
    const DIRECTORY: &'static str = "/run/runoff-settings";
    const KIND: &'static str = "the setting ";

    fn name(&self) -> &str {
        &self.path
    }

    fn put_back(&self) -> Result<bool, String> {
        let file = SettingFile::new(PathBuf::from(&self.path), self.form);
        if !Path::new(&self.path).exists() || self.is_as_it_was(&file) {
            // A file that has gone, with its CPU or its module, has taken its value along.
            return Ok(false);
        }
        let written = file.write(&self.value);
        if self.is_as_it_was(&file) {
            return Ok(true);
        }
        let why = written.err().map_or_else(String::new, |error| format!(" ({error})"));
        Err(format!("write {:?} into it{why}", self.value))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_value_is_put_back_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("value");
        fs::write(&path, "7\n").unwrap();
        let file = SettingFile::new(path.clone(), Form::Plain);
        let saved = SavedFile::new(&file, &file.value().unwrap());
        assert_eq!(saved.put_back(), Ok(false));
        file.write("8").unwrap();
        assert_eq!(saved.put_back(), Ok(true));
        assert_eq!(fs::read_to_string(&path).unwrap().trim(), "7");
        fs::remove_file(&path).unwrap();
        assert_eq!(saved.put_back(), Ok(false));
    }

    #[test]
    fn what_cannot_be_put_back_is_told() {
        let saved = SavedFile { path: "/dev".into(), form: Form::Plain, value: "7".into() };
        let error = saved.put_back().unwrap_err();
        assert!(error.starts_with("write \"7\" into it ("), "{error}");
    }
}
