// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as the types of a scheduler's object: the readers come to an end, and find only values
//! within limits.
//!
//! Whole objects are not fuzzed: libbpf reads outside of malicious ones.
#![no_main]

use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;

use bpf::{globals, libbpf_log};
use libbpf_rs::btf::Btf;
use libfuzzer_sys::fuzz_target;
use nix::sys::memfd::{MFdFlags, memfd_create};
use schedulers::describe;

/// The magic number of BTF; without it libbpf takes the file for an object.
const MAGIC: [u8; 2] = 0xeb9f_u16.to_ne_bytes();

thread_local! {
    static FILE: File = {
        let file = memfd_create("btf", MFdFlags::MFD_CLOEXEC).expect("memory can be had");
        File::from(file)
    };
}

fuzz_target!(|bytes: &[u8]| {
    FILE.with(|mut file| {
        file.rewind().expect("it is in memory");
        file.set_len(0).expect("it is in memory");
        file.write_all(&MAGIC).expect("it is in memory");
        file.write_all(bytes.get(MAGIC.len()..).unwrap_or_default()).expect("it is in memory");
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let (types, _log) = libbpf_log::caught(|| Btf::from_path(path));
        if let Ok(types) = types {
            read(&types, bytes);
        }
    });
});

fn read(types: &Btf<'_>, section: &[u8]) {
    for global in globals::globals(types) {
        let mut values = section.to_vec();
        let is_set = global.set(&mut values, 0, 0);
        assert!(!is_set || global.width == 0 || global.get(&values) == Some(0));
        match describe(&global, section) {
            Ok(Some(parameter)) => {
                let about = parameter.about;
                assert!(about.allowed.number(&about.default).is_some());
            }
            Ok(None) => {}
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let _ = globals::structure(types, ".struct_ops", "seed");
    let _ = globals::map_value(types, "stats");
    let _ = globals::variable_tags(types, ".struct_ops");
}
