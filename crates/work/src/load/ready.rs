// SPDX-License-Identifier: GPL-2.0-only
//! The moment when a load begins to count: `ready`.

use std::sync::OnceLock;

use anyhow::Result;
use nix::sys::resource::UsageWho;

use machine::clock::cpu_s;
use machine::output;

/// CPU time used before the load was ready.
static PREPARATION_S: OnceLock<f64> = OnceLock::new();

/// Prints `ready`: all is prepared.
pub fn say_ready() -> Result<()> {
    PREPARATION_S.get_or_init(|| reaped_cpu_s().unwrap_or_default());
    output::line("ready")
}

/// CPU time since the load was ready, its own and that of the children that it waited for.
pub fn reaped_cpu_s_since() -> Result<f64> {
    Ok(reaped_cpu_s()? - PREPARATION_S.get().unwrap_or(&0.0))
}

fn reaped_cpu_s() -> Result<f64> {
    Ok(cpu_s(UsageWho::RUSAGE_SELF)? + cpu_s(UsageWho::RUSAGE_CHILDREN)?)
}
