// SPDX-License-Identifier: GPL-2.0-only
//! Access to the machine that the agent runs on, as root: processes, control groups, scratch
//! directories, clocks, CPUs, counters.

pub mod cgroup;
pub mod clock;
pub mod command;
pub mod containment;
pub mod cpu_limits;
pub mod cpus;
pub mod fingerprint;
pub mod flush;
pub mod instrument;
pub mod key_value;
pub mod lifeline;
pub mod loans;
pub mod measure;
pub mod metrics;
pub mod mounts;
pub mod output;
pub mod own_files;
pub mod owner;
pub mod process;
pub mod removal;
pub mod residue;
pub mod root;
pub mod sched;
pub mod scratch;
pub mod state_file;
pub mod stop;
pub mod strays;
pub mod view;
