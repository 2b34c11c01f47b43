// SPDX-License-Identifier: GPL-2.0-only
//! Settings of the machine that are made for a sample, and put back after it.

use std::collections::BTreeSet;
use std::io;

use machine::loans::{Borrowed, LoanError, Loans};
use machine::root::Root;
use machine::stop::Stop;
use protocol::{Setting, SettingSeen};

use crate::boot;
use crate::error::SettingError;
use crate::file::SettingFile;
use crate::files;
use crate::form::{is_rounded, is_same};
use crate::saved::SavedFile;

/// Settings that are in force. Dropping it puts them back.
pub struct Applied {
    /// What the machine was booted with.
    booted: Vec<SettingSeen>,
    changes: Vec<Change>,
    /// None without settings.
    borrowed: Option<Borrowed<SavedFile>>,
}

/// One setting.
struct Change {
    name: String,
    wanted: String,
    files: Vec<SettingFile>,
    /// The value of each file before.
    before: Vec<String>,
    was: String,
    /// What all files had when everything was made.
    is: String,
}

impl Applied {
    /// Makes the settings in their order.
    ///
    /// # Errors
    /// The machine lacks one of them, another agent has changed it, the kernel does not take its
    /// value, or does not take back the present one; nothing is changed then.
    pub fn start(root: &Root, settings: &[Setting], stop: &Stop) -> Result<Self, SettingError> {
        let (mut booted, mut changes) = (Vec::new(), Vec::new());
        for setting in settings {
            if setting.name == boot::NAME {
                booted.push(boot::require(root, setting)?);
                continue;
            }
            let files = files::find(root, &setting.name)?;
            refuse_twice(&changes, &setting.name, &files)?;
            changes.push(Change::new(setting, files));
        }
        if changes.is_empty() {
            return Ok(Self { booted, changes, borrowed: None });
        }
        let loans = Loans::<SavedFile>::lock(root, Some(stop))?;
        let paths: Vec<String> = changes.iter().flat_map(Change::paths).collect();
        loans.settle(paths.iter().map(String::as_str))?;
        let mut saved = Vec::new();
        for change in &mut changes {
            saved.extend(change.read_before()?);
        }
        let borrowed = Some(Borrowed::new(root, loans.add(None, saved)?));
        drop(loans);
        // From here on, dropping it puts everything back.
        let mut applied = Self { booted, changes, borrowed };
        applied.changes.iter().try_for_each(Change::make)?;
        applied.changes.iter_mut().try_for_each(Change::require)?;
        Ok(applied)
    }

    /// What each setting was, and what it is.
    pub fn seen(&self) -> Vec<SettingSeen> {
        let seen = self.changes.iter().map(|change| SettingSeen {
            of: "machine".into(),
            name: change.name.clone(),
            wanted: change.wanted.clone(),
            was: change.was.clone(),
            is: change.is.clone(),
        });
        self.booted.iter().cloned().chain(seen).collect()
    }

    /// Why a setting was not in force throughout.
    pub fn objection(&self) -> Option<String> {
        self.changes.iter().find_map(|change| {
            let now = change.value().unwrap_or_else(|error| error.to_string());
            let (name, is) = (&change.name, &change.is);
            (now != *is).then(|| {
                format!("the setting {name} was {is} and became {now} while the sample was taken")
            })
        })
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// Something is not what it was before; `machine::loans::sweep` tries again.
    pub fn end(mut self) -> Result<(), LoanError> {
        self.borrowed.as_mut().map_or(Ok(()), Borrowed::give_back)
    }
}

fn refuse_twice(others: &[Change], name: &str, files: &[SettingFile]) -> Result<(), SettingError> {
    let has = |path| others.iter().find(|other| other.files.iter().any(|file| file.path == path));
    match files.iter().find_map(|file| Some((has(file.path.clone())?, file))) {
        Some((other, file)) => Err(SettingError::Twice {
            name: name.into(),
            other: other.name.clone(),
            path: file.path.clone(),
        }),
        None => Ok(()),
    }
}

impl Change {
    fn new(setting: &Setting, files: Vec<SettingFile>) -> Self {
        let Setting { name, value } = setting.clone();
        let (before, was, is) = Default::default();
        Self { name, wanted: value, files, before, was, is }
    }

    fn paths(&self) -> impl Iterator<Item = String> {
        self.files.iter().map(|file| file.path.display().to_string())
    }

    fn read_before(&mut self) -> Result<Vec<SavedFile>, SettingError> {
        let values = self.files.iter().map(|file| file.value().map_err(self.unread(file)));
        self.before = values.collect::<Result<_, _>>()?;
        self.was = self.value().map_err(self.unread(&self.files[0]))?;
        let both = self.files.iter().zip(&self.before);
        Ok(both.map(|(file, value)| SavedFile::new(file, value)).collect())
    }

    /// Writes the value, after the present one: what the kernel does not take back cannot be put
    /// back.
    fn make(&self) -> Result<(), SettingError> {
        for (file, before) in self.files.iter().zip(&self.before) {
            file.write(before).map_err(|error| SettingError::OneWay {
                name: self.name.clone(),
                value: before.clone(),
                error,
            })?;
            file.write(&self.wanted).map_err(|error| SettingError::Refused {
                name: self.name.clone(),
                value: self.wanted.clone(),
                error,
                offered: offered(file),
            })?;
        }
        Ok(())
    }

    /// Requires that the value is what was written, or the number that the kernel made of it.
    fn require(&mut self) -> Result<(), SettingError> {
        self.is = self.value().map_err(self.unread(&self.files[0]))?;
        if is_same(&self.is, &self.wanted) || is_rounded(&self.wanted, &self.is) {
            return Ok(());
        }
        Err(SettingError::NotTaken {
            name: self.name.clone(),
            value: self.wanted.clone(),
            found: self.is.clone(),
            offered: offered(&self.files[0]),
        })
    }

    /// What the files have, each value once. One that has gone with a CPU has none.
    fn value(&self) -> io::Result<String> {
        let mut found = BTreeSet::new();
        let mut gone = None;
        for file in &self.files {
            match file.value() {
                Ok(value) => drop(found.insert(file.form.part(&value, &self.wanted))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => gone = Some(error),
                Err(error) => return Err(error),
            }
        }
        match gone {
            Some(error) if found.is_empty() => Err(error),
            _ => Ok(found.into_iter().collect::<Vec<_>>().join(" and ")),
        }
    }

    fn unread(&self, file: &SettingFile) -> impl FnOnce(io::Error) -> SettingError {
        let (name, path) = (self.name.clone(), file.path.clone());
        |error| SettingError::Unread { name, path, error }
    }
}

fn offered(file: &SettingFile) -> String {
    match file.offered() {
        offered if offered.is_empty() => String::new(),
        offered => format!(": there are {}", offered.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use machine::loans::sweep;

    use super::*;

    const SLICE: &str = "/sys/kernel/debug/sched/base_slice_ns";
    const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    const GOVERNORS: [&str; 2] = [
        "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
        "/sys/devices/system/cpu/cpufreq/policy1/scaling_governor",
    ];

    /// Files in place of those of a kernel.
    struct Machine {
        _directory: tempfile::TempDir,
        root: Root,
        stop: Stop,
    }

    impl Machine {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let root = Root::below(directory.path());
            let machine = Self { _directory: directory, root, stop: Stop::new().unwrap() };
            machine.write("/run/x", "");
            machine.write(SLICE, "2800000\n");
            machine.write(THP, "always\n");
            machine.write(GOVERNORS[0], "powersave\n");
            machine.write(GOVERNORS[1], "schedutil\n");
            machine
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.root.at(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn value(&self, path: &str) -> String {
            fs::read_to_string(self.root.at(path)).unwrap().trim().into()
        }

        fn start(&self, settings: &[(&str, &str)]) -> Result<Applied, SettingError> {
            let named = |(name, value): &(&str, &str)| Setting {
                name: (*name).into(),
                value: (*value).into(),
            };
            let settings: Vec<_> = settings.iter().map(named).collect();
            Applied::start(&self.root, &settings, &self.stop)
        }

        fn loans(&self) -> usize {
            fs::read_dir(self.root.at("/run/runoff-settings")).map_or(0, Iterator::count)
        }
    }

    #[test]
    fn settings_are_in_force_until_the_end() {
        let machine = Machine::new();
        let applied =
            machine.start(&[("sched.base_slice_ns", "7"), ("governor", "performance")]).unwrap();
        assert_eq!(
            (machine.value(SLICE), machine.value(GOVERNORS[1])),
            ("7".into(), "performance".into())
        );
        let seen = applied.seen();
        let facts =
            |at: usize| (seen[at].wanted.as_str(), seen[at].was.as_str(), seen[at].is.as_str());
        assert_eq!(facts(0), ("7", "2800000", "7"));
        assert_eq!(facts(1), ("performance", "powersave and schedutil", "performance"));
        assert_eq!(applied.objection(), None);
        assert_eq!(machine.loans(), 1);
        applied.end().unwrap();
        let after = [SLICE, GOVERNORS[0], GOVERNORS[1]].map(|path| machine.value(path));
        assert_eq!(after, ["2800000", "powersave", "schedutil"]);
        assert_eq!(machine.loans(), 0);
    }

    #[test]
    fn a_change_meanwhile_is_an_objection_and_is_put_back_too() {
        let machine = Machine::new();
        let applied =
            machine.start(&[("sched.base_slice_ns", "7"), ("governor", "performance")]).unwrap();
        machine.write(GOVERNORS[1], "powersave\n");
        let words = "the setting governor was performance and became performance and powersave while the sample was taken";
        assert_eq!(applied.objection().as_deref(), Some(words));
        drop(applied);
        assert_eq!(machine.value(GOVERNORS[1]), "schedutil");
        // A file that has gone cannot have it either.
        let applied = machine.start(&[("sched.base_slice_ns", "7")]).unwrap();
        fs::remove_file(machine.root.at(SLICE)).unwrap();
        assert!(applied.objection().unwrap().contains("and became "));
    }

    #[test]
    fn a_refused_setting_leaves_everything_as_it_was() {
        let machine = Machine::new();
        let refused = |settings: &[(&str, &str)], words: &str, code| {
            let error = machine.start(settings).err().unwrap();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(error.exit_code(), code);
            assert_eq!((machine.value(SLICE).as_str(), machine.loans()), ("2800000", 0));
        };
        refused(
            &[("sched.base_slice_ns", "7"), ("boost", "off")],
            "boost: this machine cannot",
            69,
        );
        refused(
            &[("sched.base_slice_ns", "7"), ("hertz", "9")],
            "there is no setting \"hertz\"",
            64,
        );
        let twice = [("sched.base_slice_ns", "7"), ("sched.base_slice_ns", "8")];
        refused(&twice, "are one setting, ", 64);
        // The kernel shows another one than was chosen.
        machine.write(THP, "always [madvise] never\n");
        fs::remove_file(machine.root.at(THP)).unwrap();
        std::os::unix::fs::symlink("/dev/null", machine.root.at(THP)).unwrap();
        refused(&[("sched.base_slice_ns", "7"), ("thp", "never")], "thp", 69);
    }

    #[test]
    fn what_a_dead_agent_had_changed_is_not_taken_for_the_original() {
        let machine = Machine::new();
        let applied = machine.start(&[("sched.base_slice_ns", "7")]).unwrap();
        let file =
            fs::read_dir(machine.root.at("/run/runoff-settings")).unwrap().next().unwrap().unwrap();
        let text = fs::read_to_string(file.path()).unwrap();
        drop(applied);
        machine.write(SLICE, "7\n");
        let dead = text.replacen("\"started\":", "\"started\":1", 1);
        assert_ne!(text, dead);
        fs::write(file.path(), &dead).unwrap();
        let applied = machine.start(&[("sched.base_slice_ns", "9")]).unwrap();
        assert_eq!(applied.seen()[0].was, "2800000");
        drop(applied);
        assert_eq!((machine.value(SLICE).as_str(), machine.loans()), ("2800000", 0));
        // Without another sample, the sweep does it.
        machine.write(SLICE, "7\n");
        fs::write(file.path(), &dead).unwrap();
        let swept = sweep::<SavedFile>(&machine.root, None).unwrap();
        let path = machine.root.at(SLICE);
        assert_eq!(swept.done, [format!("put back the setting {}", path.display())]);
        assert_eq!((machine.value(SLICE).as_str(), machine.loans()), ("2800000", 0));
    }
}
