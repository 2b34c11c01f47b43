// SPDX-License-Identifier: GPL-2.0-only
//! BPF objects: those inside this program, their variables and types, and what the kernel reports
//! about them.

#[cfg(test)]
mod fake_btf;
pub mod globals;
pub mod kernel_enums;
pub mod kernel_functions;
pub mod kernel_types;
pub mod libbpf_log;
pub mod objects;
pub mod opened;
pub mod run_time;
mod sections;
pub mod struct_ops;
mod symbols;
pub mod topology;
