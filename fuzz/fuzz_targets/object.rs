// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as an object, and in a program: it is read or refused, and whatever is read can be asked for everything.
#![no_main]

use std::sync::LazyLock;

use bpfvm::Object;
use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::loading::load;
use bpfvm::object::find_embedded;
use bpfvm::outline::outline;
use libfuzzer_sys::fuzz_target;

static NEWEST: LazyLock<Kernel> = LazyLock::new(|| Kernel::read(KERNELS.len() - 1));

fuzz_target!(|bytes: &[u8]| {
    assert!(find_embedded(bytes).iter().map(|each| each.len()).sum::<usize>() <= bytes.len());
    let object = match Object::parse(bytes) {
        Ok(object) => object,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let loading = load(&object, &NEWEST);
    assert!(loading.lacks.iter().all(|thing| !loading.needs.contains_key(thing)));
    for (number, code) in object.code.iter().enumerate() {
        for function in 0..code.functions.len() {
            let found = outline(&object, (number, function));
            assert!(found.instructions <= found.with_calls);
        }
    }
});
