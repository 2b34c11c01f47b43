// SPDX-License-Identifier: GPL-2.0-only
//! Programs of a scheduler that only observe the kernel, for events that sched_ext does not report.

use bpf::kernel_types;
use libbpf_rs::{Link, Object, OpenObject, ProgramType, num_possible_cpus};

/// The function that they observe; see schedulers/include/sync.h.
const WAKE_UP: &str = "try_to_wake_up";

/// Leaves the observers out where sched_ext reports the same, or where the kernel does not have the
/// function; then the scheduler does without.
pub fn select(object: &mut OpenObject) {
    let wanted =
        num_possible_cpus().is_ok_and(|cpus| cpus == 1) && kernel_types::has_function(WAKE_UP);
    for mut program in object.progs_mut() {
        if program.prog_type() == ProgramType::Tracing {
            program.set_autoload(wanted);
        }
    }
}

/// Attaches the observers that the kernel accepts; a kernel without function tracing accepts none.
pub fn attach(object: &mut Object) -> Vec<Link> {
    object
        .progs_mut()
        .filter(|program| program.prog_type() == ProgramType::Tracing)
        .filter_map(|program| program.attach().ok())
        .collect()
}
