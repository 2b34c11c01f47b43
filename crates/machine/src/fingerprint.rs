// SPDX-License-Identifier: GPL-2.0-only
//! The fingerprint of this machine: facts that may change a result and cost nothing to read.

use std::fs;
use std::path::Path;

use nix::sys::utsname::uname;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::cgroup::hierarchy;
use crate::root::Root;

/// Hardware, kernel and settings as nested tables; a fact that cannot be read is `null`.
pub fn read() -> Value {
    at(&Root::machine())
}

/// Facts of the machine from files below `root`; some come from the running kernel and agent in any case.
fn at(root: &Root) -> Value {
    json!({
        "hardware": hardware(root),
        "kernel": kernel(root),
        "settings": settings(root),
        "agent": { "version": env!("CARGO_PKG_VERSION"), "sha256": own_sha256() },
    })
}

fn hardware(root: &Root) -> Value {
    let line = |path| line(root, path);
    let cpuinfo = fs::read_to_string(root.at("/proc/cpuinfo")).unwrap_or_default();
    let meminfo = fs::read_to_string(root.at("/proc/meminfo")).unwrap_or_default();
    json!({
        "hostname": line("/proc/sys/kernel/hostname"),
        "cpu_model": field(&cpuinfo, "model name"),
        "cpus_online": line("/sys/devices/system/cpu/online"),
        "memory": field(&meminfo, "MemTotal"),
        "hypervisor": cpuinfo.split_whitespace().any(|flag| flag == "hypervisor"),
        "smt": line("/sys/devices/system/cpu/smt/control"),
        "microcode": field(&cpuinfo, "microcode"),
    })
}

fn kernel(root: &Root) -> Value {
    let line = |path| line(root, path);
    let name = uname().ok();
    let text =
        |value: Option<&std::ffi::OsStr>| value.map(|text| text.to_string_lossy().into_owned());
    json!({
        "release": text(name.as_ref().map(|name| name.release())),
        "version": text(name.as_ref().map(|name| name.version())),
        "machine": text(name.as_ref().map(|name| name.machine())),
        "command_line": line("/proc/cmdline"),
        "config_sha256": config_sha256(root),
        "preempt": line("/sys/kernel/debug/sched/preempt"),
    })
}

fn settings(root: &Root) -> Value {
    let line = |path| line(root, path);
    json!({
        "clocksource": line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "governor": line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "turbo_off": line("/sys/devices/system/cpu/intel_pstate/no_turbo"),
        "boost": line("/sys/devices/system/cpu/cpufreq/boost"),
        "autogroup": line("/proc/sys/kernel/sched_autogroup_enabled"),
        "randomize_va_space": line("/proc/sys/kernel/randomize_va_space"),
        "transparent_hugepage": line("/sys/kernel/mm/transparent_hugepage/enabled"),
        "timer_migration": line("/proc/sys/kernel/timer_migration"),
        "nmi_watchdog": line("/proc/sys/kernel/nmi_watchdog"),
        "cpu_max": cpu_max(root),
    })
}

/// The limit of the topmost control group that is visible here, such as a container's; the root
/// group of a machine has none.
fn cpu_max(root: &Root) -> Option<String> {
    let limit = fs::read_to_string(hierarchy(root).ok()?.join("cpu.max")).ok()?;
    Some(limit.trim().to_owned())
}

fn line(root: &Root, path: &str) -> Option<String> {
    fs::read_to_string(root.at(path)).ok().map(|text| text.trim().to_owned())
}

fn field(text: &str, key: &str) -> Option<String> {
    let line =
        text.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn config_sha256(root: &Root) -> Option<String> {
    let release = line(root, "/proc/sys/kernel/osrelease")?;
    let candidates = [
        format!("/boot/config-{release}"),
        format!("/lib/modules/{release}/config"),
        "/proc/config.gz".to_owned(),
    ];
    candidates.iter().find_map(|path| sha256(&root.at(path)))
}

fn own_sha256() -> Option<String> {
    sha256(&std::env::current_exe().ok()?)
}

fn sha256(path: &Path) -> Option<String> {
    let digest = Sha256::digest(fs::read(path).ok()?);
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let cpuinfo = "model\t\t: 85\nmodel name\t: A CPU @ 2 GHz\n";
        assert_eq!(field(cpuinfo, "model name").as_deref(), Some("A CPU @ 2 GHz"));
        assert_eq!(field(cpuinfo, "microcode"), None);
    }

    #[test]
    fn facts_that_cannot_be_read_are_null() {
        let directory = tempfile::TempDir::new().unwrap();
        fs::create_dir(directory.path().join("proc")).unwrap();
        fs::write(directory.path().join("proc/cmdline"), "quiet\n").unwrap();
        let facts = at(&Root::below(directory.path()));
        assert_eq!(facts["kernel"]["command_line"], "quiet");
        let unknown = [&facts["hardware"]["memory"], &facts["settings"]["boost"]];
        assert!(unknown.iter().all(|fact| fact.is_null()), "{facts}");
    }

    #[test]
    fn the_limit_of_a_container_is_reported() {
        let directory = tempfile::TempDir::new().unwrap();
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/self/mountinfo", "31 25 0:27 / /cg rw,relatime - cgroup2 cgroup2 rw\n");
        let limit = || at(&Root::below(directory.path()))["settings"]["cpu_max"].clone();
        assert!(limit().is_null());
        write("cg/cpu.max", "20000 100000\n");
        assert_eq!(limit(), "20000 100000");
    }

    #[test]
    fn the_running_kernel_is_named() {
        let release = read()["kernel"]["release"].clone();
        assert!(release.as_str().is_some_and(|release| !release.is_empty()));
    }
}
