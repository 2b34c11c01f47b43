// SPDX-License-Identifier: GPL-2.0-only
//! Programs of a scheduler that only listen to the kernel, for what sched_ext does not tell.

use bpf::kernel_types;
use libbpf_rs::{Link, Object, OpenObject, ProgramType, num_possible_cpus};

/// What they listen to; see schedulers/include/sync.h.
const WAKE_UP: &str = "try_to_wake_up";

/// Leaves the observers out where the scheduler hears the same from sched_ext, or the kernel has not the
/// function; the scheduler does without then.
pub fn select(object: &mut OpenObject) {
    let wanted =
        num_possible_cpus().is_ok_and(|cpus| cpus == 1) && kernel_types::has_function(WAKE_UP);
    for mut program in object.progs_mut() {
        if program.prog_type() == ProgramType::Tracing {
            program.set_autoload(wanted);
        }
    }
}

/// Attaches the observers that the kernel takes; a kernel without function tracing takes none.
pub fn attach(object: &mut Object) -> Vec<Link> {
    object
        .progs_mut()
        .filter(|program| program.prog_type() == ProgramType::Tracing)
        .filter_map(|program| program.attach().ok())
        .collect()
}
