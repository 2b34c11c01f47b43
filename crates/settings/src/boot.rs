// SPDX-License-Identifier: GPL-2.0-only
//! Words of the kernel's command line: who boots the machine has to give them, and here it is seen
//! whether the kernel has them and knows them.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

use machine::root::Root;
use nix::errno::Errno;
use nix::libc::O_NONBLOCK;
use protocol::{Setting, SettingSeen};

use crate::error::SettingError;
use crate::file::read;

pub const NAME: &str = "cmdline";

/// The kernel's limit for one record of its log, CONSOLE_EXT_LOG_MAX.
const RECORD_MAX: usize = 8192;

/// Words in messages about a parameter that the kernel does not take.
const COMPLAINTS: [&str; 4] = ["unknown", "unsupported", "invalid", "malformed"];

/// Requires that the kernel that runs was booted with the words of `setting`, and does not complain
/// of one of them.
///
/// # Errors
/// It was not, or it does.
pub fn require(root: &Root, setting: &Setting) -> Result<SettingSeen, SettingError> {
    let path = root.at("/proc/cmdline");
    let unread = |error| SettingError::Unread { name: NAME.into(), path: path.clone(), error };
    let line = read(&path).map_err(unread)?;
    let has = |word: &&str| line.split_whitespace().any(|one| one == *word);
    if let Some(word) = setting.value.split_whitespace().find(|word| !has(word)) {
        let why = format!("this kernel was not booted with {word}");
        return Err(SettingError::Absent { name: NAME.into(), why });
    }
    if let Some(message) = log().iter().find(|message| is_complaint(message, &setting.value)) {
        return Err(SettingError::NotKnown { name: NAME.into(), message: message.clone() });
    }
    Ok(SettingSeen {
        of: "machine".into(),
        name: NAME.into(),
        wanted: setting.value.clone(),
        was: String::new(),
        is: setting.value.clone(),
    })
}

/// Whether a message says that the kernel does not take one of these words.
fn is_complaint(message: &str, words: &str) -> bool {
    let is_between = |letter: char| letter.is_whitespace() || "\",:'".contains(letter);
    let parts: Vec<_> = message.split(is_between).collect();
    let complains = |part: &&str| COMPLAINTS.contains(&part.to_lowercase().as_str());
    let is_named = |word: &str| {
        let value = word.split_once('=').map_or(word, |(_, value)| value);
        parts.contains(&word) || parts.contains(&value)
    };
    parts.iter().any(complains) && words.split_whitespace().any(is_named)
}

/// The texts of the kernel's log; none if it may not be read.
fn log() -> Vec<String> {
    let opened = File::options().read(true).custom_flags(O_NONBLOCK).open("/dev/kmsg");
    let (mut found, mut record) = (Vec::new(), [0; RECORD_MAX]);
    let Ok(mut file) = opened else { return found };
    loop {
        match file.read(&mut record) {
            Ok(0) => return found,
            Ok(length) => {
                let record = String::from_utf8_lossy(&record[..length]);
                let text = record.split_once(';').map_or("", |(_, text)| text);
                found.extend(text.lines().next().map(str::to_owned));
            }
            // Records that were overwritten before they were read are lost.
            Err(error) if error.raw_os_error() == Some(Errno::EPIPE as i32) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn booted_with(line: &str, words: &str) -> Result<SettingSeen, SettingError> {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("proc")).unwrap();
        fs::write(directory.path().join("proc/cmdline"), line).unwrap();
        let setting = Setting { name: NAME.into(), value: words.into() };
        require(&Root::below(directory.path()), &setting)
    }

    #[test]
    fn every_word_has_to_be_in_the_line() {
        let seen = booted_with("console=ttyS0 a=1 b\n", "b a=1").unwrap();
        assert_eq!((seen.name.as_str(), seen.is.as_str()), ("cmdline", "b a=1"));
        let error = booted_with("console=ttyS0 a=12\n", "a=1").unwrap_err();
        assert_eq!(error.to_string(), "cmdline: this kernel was not booted with a=1");
        assert_eq!(error.exit_code(), 69);
    }

    #[test]
    fn a_complaint_names_one_of_the_words() {
        let unknown =
            "Unknown kernel command line parameters \"foo=1 bar\", will be passed to user space.";
        assert!(is_complaint(unknown, "foo=1") && is_complaint(unknown, "x=2 bar"));
        assert!(is_complaint("Dynamic Preempt: unsupported mode: voluntary", "preempt=voluntary"));
        assert!(!is_complaint(unknown, "foo=12") && !is_complaint("Command line: foo=1", "foo=1"));
        assert!(!is_complaint("unknown chipset", "threadirqs"));
        assert!(!is_complaint("iommu: TLB invalidation policy: lazy mode", "preempt=lazy"));
    }
}
