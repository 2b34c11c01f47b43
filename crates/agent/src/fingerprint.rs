// SPDX-License-Identifier: GPL-2.0-only
//! What this machine is: facts that may change a result and cost nothing to read.

use std::fs;
use std::path::Path;

use nix::sys::utsname::uname;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Hardware, kernel and settings as nested tables; a fact that cannot be read is `null`.
pub fn read() -> Value {
    json!({
        "hardware": hardware(),
        "kernel": kernel(),
        "settings": settings(),
        "agent": { "version": env!("CARGO_PKG_VERSION"), "sha256": own_sha256() },
    })
}

fn hardware() -> Value {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
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

fn kernel() -> Value {
    let name = uname().ok();
    let text =
        |value: Option<&std::ffi::OsStr>| value.map(|text| text.to_string_lossy().into_owned());
    json!({
        "release": text(name.as_ref().map(|name| name.release())),
        "version": text(name.as_ref().map(|name| name.version())),
        "machine": text(name.as_ref().map(|name| name.machine())),
        "command_line": line("/proc/cmdline"),
        "config_sha256": config_sha256(),
        "preempt": line("/sys/kernel/debug/sched/preempt"),
    })
}

fn settings() -> Value {
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
    })
}

fn line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn field(text: &str, key: &str) -> Option<String> {
    let line =
        text.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn config_sha256() -> Option<String> {
    let release = line("/proc/sys/kernel/osrelease")?;
    let candidates = [
        format!("/boot/config-{release}"),
        format!("/lib/modules/{release}/config"),
        "/proc/config.gz".to_owned(),
    ];
    candidates.iter().find_map(|path| sha256(Path::new(path)))
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
    fn the_running_kernel_is_named() {
        let release = read()["kernel"]["release"].clone();
        assert!(release.as_str().is_some_and(|release| !release.is_empty()));
    }
}
