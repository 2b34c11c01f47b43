// SPDX-License-Identifier: GPL-2.0-only
//! The objects inside this program, compiled by the build script.

/// A name and the bytes of an ELF file.
pub type Object = (&'static str, &'static [u8]);

/// schedulers/*.bpf.c
pub const SCHEDULERS: &[Object] = &include!(concat!(env!("OUT_DIR"), "/schedulers.rs"));

/// probes/*.bpf.c
pub const PROBES: &[Object] = &include!(concat!(env!("OUT_DIR"), "/probes.rs"));

/// crates/ublk/src/identity/identity.bpf.c
pub const IDENTITY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/identity.bpf.o"));

/// symbols/lookup.bpf.c
pub(crate) const LOOKUP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lookup.bpf.o"));
