// SPDX-License-Identifier: GPL-2.0-only
//! /sys/kernel/sched_ext, see the kernel's Documentation/scheduler/sched-ext.rst.

use std::fs;
use std::path::Path;

use crate::protocol::State;

pub const ROOT: &str = "/sys/kernel/sched_ext";

/// Everything is empty or 0 on a kernel without sched_ext; `ops` is empty while none is attached.
pub fn read() -> State {
    State {
        state: text("state"),
        ops: text("root/ops"),
        enable_seq: number("enable_seq"),
        nr_rejected: number("nr_rejected"),
        switch_all: number("switch_all"),
    }
}

/// How often CPUs came and went; a scheduler that names another count is refused.
pub fn hotplug_seq() -> u64 {
    number("hotplug_seq")
}

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap_or_default().trim().to_owned()
}

fn number(name: &str) -> u64 {
    text(name).parse().unwrap_or(0)
}
