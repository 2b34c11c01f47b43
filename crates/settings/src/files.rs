// SPDX-License-Identifier: GPL-2.0-only
//! The files that a setting of the machine changes.

use std::fs;
use std::path::{Path, PathBuf};

use machine::root::Root;

use crate::error::SettingError;
use crate::file::{SettingFile, read};
use crate::form::Form;

const SCHED: &str = "/sys/kernel/debug/sched";
const DEBUGFS: &str = "/sys/kernel/debug";
const SYSCTL: &str = "/proc/sys";
const CPUS: &str = "/sys/devices/system/cpu";
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// The prefixes of settings that are files of a directory of the kernel.
pub const FAMILIES: [(&str, &str); 2] = [("sched.", SCHED), ("sysctl.", SYSCTL)];

/// The files of the setting `name`, one or several that always have the same value.
///
/// # Errors
/// There is no such setting, or this machine does not have it.
pub fn find(root: &Root, name: &str) -> Result<Vec<SettingFile>, SettingError> {
    let found = match name {
        "governor" => policies(root, "scaling_governor", "scaling_available_governors"),
        "epp" => policies(
            root,
            "energy_performance_preference",
            "energy_performance_available_preferences",
        ),
        "boost" => boost(root),
        "thp" => only(root.at(THP), Form::Choice, "this kernel has no transparent huge pages"),
        "smt" => smt(root),
        _ => return in_family(root, name),
    };
    found.map_err(|why| SettingError::Absent { name: name.into(), why })
}

fn in_family(root: &Root, name: &str) -> Result<Vec<SettingFile>, SettingError> {
    let family = FAMILIES.iter().find_map(|(prefix, top)| Some((*top, name.strip_prefix(prefix)?)));
    let unknown = || SettingError::Unknown { name: name.into() };
    let (top, rest) = family.ok_or_else(unknown)?;
    let path = root.at(top).join(relative(rest).ok_or_else(unknown)?);
    let absent = |why: String| SettingError::Absent { name: name.into(), why };
    if top == SCHED && !root.at(SCHED).is_dir() {
        return Err(absent(format!(
            "{SCHED} is not there: run `mount -t debugfs debugfs {DEBUGFS}`, or this kernel has no CONFIG_SCHED_DEBUG"
        )));
    }
    if !path.is_file() {
        return Err(absent(format!("this kernel has no {}", path.display())));
    }
    let form = match read(&path) {
        Ok(content) if top == SCHED => Form::guess(rest, &content),
        _ => Form::Plain,
    };
    Ok(vec![SettingFile::new(path, form)])
}

/// The path of a dotted name; a slash stands for a dot in a part of the path, as in sysctl(8). None
/// if it could lead elsewhere.
fn relative(name: &str) -> Option<PathBuf> {
    let separator = if name.contains('/') { '/' } else { '.' };
    let parts: Vec<_> = name.split(separator).collect();
    let is_plain = |part: &&str| {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-.:".contains(letter);
        !part.is_empty() && part.chars().all(allowed) && !part.trim_matches('.').is_empty()
    };
    parts.iter().all(is_plain).then(|| parts.iter().collect())
}

fn only(path: PathBuf, form: Form, why_not: &str) -> Result<Vec<SettingFile>, String> {
    if path.is_file() { Ok(vec![SettingFile::new(path, form)]) } else { Err(why_not.into()) }
}

/// A file of each frequency domain (Documentation/admin-guide/pm/cpufreq.rst).
fn policies(root: &Root, file: &str, choices: &str) -> Result<Vec<SettingFile>, String> {
    let found: Vec<_> = frequency_domains(root)
        .into_iter()
        .filter(|policy| policy.join(file).is_file())
        .map(|policy| SettingFile {
            choices: Some(policy.join(choices)),
            ..SettingFile::new(policy.join(file), Form::Plain)
        })
        .collect();
    if found.is_empty() {
        return Err(format!(
            "no CPU of this machine has {file} in /sys/devices/system/cpu/cpufreq"
        ));
    }
    Ok(found)
}

fn frequency_domains(root: &Root) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.at(CPUS).join("cpufreq")).into_iter().flatten().flatten();
    let names = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("policy"));
    let mut found: Vec<_> = names.map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// The first of the places where drivers have it (Documentation/admin-guide/pm/cpufreq.rst,
/// `intel_pstate.rst`, `amd-pstate.rst`).
fn boost(root: &Root) -> Result<Vec<SettingFile>, String> {
    let cpus = root.at(CPUS);
    let whole = cpus.join("cpufreq/boost");
    let turbo = cpus.join("intel_pstate/no_turbo");
    if whole.is_file() {
        return Ok(vec![SettingFile::new(whole, Form::Switch)]);
    }
    if turbo.is_file() {
        return Ok(vec![SettingFile::new(turbo, Form::Inverted)]);
    }
    let each = frequency_domains(root).into_iter().map(|policy| policy.join("boost"));
    let found: Vec<_> = each
        .filter(|file| file.is_file())
        .map(|file| SettingFile::new(file, Form::Switch))
        .collect();
    if found.is_empty() {
        return Err("this machine cannot switch the boost of its CPUs".into());
    }
    Ok(found)
}

/// Documentation/ABI/testing/sysfs-devices-system-cpu, `smt/control`.
fn smt(root: &Root) -> Result<Vec<SettingFile>, String> {
    let path: &Path = &root.at(CPUS).join("smt/control");
    let file = SettingFile::new(path.into(), Form::OnOff);
    match file.value() {
        Ok(value) if value == "on" || value == "off" => Ok(vec![file]),
        Ok(value) => Err(format!("this machine cannot switch SMT: {} is {value}", path.display())),
        Err(_) => Err(format!("this kernel has no {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::below(directory.path());
        for (path, text) in files {
            let path = root.at(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (directory, root)
    }

    fn names(root: &Root, name: &str) -> Vec<String> {
        let found = find(root, name).unwrap_or_else(|error| panic!("{error}"));
        let top = root.at("/");
        found
            .iter()
            .map(|file| file.path.strip_prefix(&top).unwrap().display().to_string())
            .collect()
    }

    fn refused(root: &Root, name: &str, words: &str) {
        let error = find(root, name).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }

    #[test]
    fn a_name_is_a_path_below_the_directory_of_its_family() {
        let (_directory, root) = machine(&[
            ("/sys/kernel/debug/sched/base_slice_ns", "2800000\n"),
            ("/sys/kernel/debug/sched/numa_balancing/hot_threshold_ms", "1000\n"),
            ("/proc/sys/net/ipv4/conf/eth0.5/forwarding", "0\n"),
            ("/proc/sys/kernel/sched_autogroup_enabled", "1\n"),
        ]);
        for (name, path) in [
            ("sched.base_slice_ns", "sys/kernel/debug/sched/base_slice_ns"),
            (
                "sched.numa_balancing.hot_threshold_ms",
                "sys/kernel/debug/sched/numa_balancing/hot_threshold_ms",
            ),
            ("sysctl.kernel.sched_autogroup_enabled", "proc/sys/kernel/sched_autogroup_enabled"),
            ("sysctl.net/ipv4/conf/eth0.5/forwarding", "proc/sys/net/ipv4/conf/eth0.5/forwarding"),
        ] {
            assert_eq!(names(&root, name), [path]);
        }
        refused(&root, "sched.nothing", "this kernel has no ");
        refused(&root, "sched.numa_balancing", "this kernel has no ");
        refused(&Root::below("/nowhere"), "sched.base_slice_ns", "mount -t debugfs");
    }

    #[test]
    fn no_name_leads_elsewhere() {
        let (_directory, root) = machine(&[("/proc/sys/a", "1"), ("/proc/secret", "1")]);
        for name in [
            "sysctl../secret",
            "sysctl...secret",
            "sysctl.",
            "sysctl./etc/passwd",
            "sysctl.a/../../secret",
        ] {
            refused(&root, name, "there is no setting");
        }
        refused(&root, "hertz", "there is no setting");
    }

    #[test]
    fn all_frequency_domains_have_one_governor() {
        let (_directory, root) = machine(&[
            ("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n"),
            (
                "/sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors",
                "performance powersave\n",
            ),
            ("/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n"),
        ]);
        assert_eq!(names(&root, "governor").len(), 2);
        assert_eq!(find(&root, "governor").unwrap()[0].offered(), ["performance", "powersave"]);
        refused(&root, "epp", "no CPU of this machine has energy_performance_preference");
        refused(&root, "boost", "cannot switch the boost");
    }

    #[test]
    fn boost_is_where_the_driver_has_it() {
        let turbo = "/sys/devices/system/cpu/intel_pstate/no_turbo";
        let (_directory, root) = machine(&[(turbo, "1\n")]);
        assert_eq!(find(&root, "boost").unwrap()[0].value().unwrap(), "off");
        let (_directory, root) = machine(&[
            ("/sys/devices/system/cpu/cpufreq/policy0/boost", "1\n"),
            ("/sys/devices/system/cpu/cpufreq/policy4/boost", "1\n"),
        ]);
        assert_eq!(names(&root, "boost").len(), 2);
        let (_directory, root) =
            machine(&[(turbo, "1\n"), ("/sys/devices/system/cpu/cpufreq/boost", "1\n")]);
        assert_eq!(names(&root, "boost"), ["sys/devices/system/cpu/cpufreq/boost"]);
    }

    #[test]
    fn a_machine_that_cannot_switch_smt_says_so() {
        let control = "/sys/devices/system/cpu/smt/control";
        let (_directory, root) = machine(&[(control, "notsupported\n")]);
        refused(&root, "smt", "smt/control is notsupported");
        let (_directory, root) = machine(&[(control, "on\n")]);
        assert_eq!(find(&root, "smt").unwrap()[0].offered(), ["on", "off"]);
    }
}
