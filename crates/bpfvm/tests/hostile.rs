// SPDX-License-Identifier: GPL-2.0-only
//! Objects that are cut off, or wrong in a few bytes: they are read or refused, and nothing else happens.

use std::sync::LazyLock;

use bpfvm::Object;
use bpfvm::kernel::{KERNELS, Kernel};
use bpfvm::loading::load;
use bpfvm::object::find_embedded;
use bpfvm::outline::outline;
use proptest::prelude::*;

static NEWEST: LazyLock<Kernel> = LazyLock::new(|| Kernel::read(KERNELS.len() - 1));

/// A scheduler of a few lines, with everything that an object can ask for.
const SCHEDULER: &[u8] = include_bytes!("../../../fuzz/corpus/object/tiny");

/// Does everything that can be done with an object.
fn use_up(bytes: &[u8]) {
    let Ok(object) = Object::parse(bytes) else { return };
    load(&object, &NEWEST);
    for (number, code) in object.code.iter().enumerate() {
        (0..code.functions.len()).for_each(|function| {
            outline(&object, (number, function));
        });
    }
}

/// Where the interesting sections are: types, relocations and headers, at the end of the file.
fn late(length: usize) -> impl Strategy<Value = usize> {
    prop_oneof![0..length, length / 2..length, length.saturating_sub(4096)..length]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn wrong_bytes_are_read_or_refused(
        changes in prop::collection::vec((late(SCHEDULER.len()), any::<u8>()), 1..8)
    ) {
        let mut bytes = SCHEDULER.to_vec();
        changes.into_iter().for_each(|(at, byte)| bytes[at] = byte);
        use_up(&bytes);
    }

    #[test]
    fn wrong_numbers_are_read_or_refused(
        at in late(SCHEDULER.len() - 8),
        number in prop_oneof![Just(u64::MAX), Just(1_u64 << 63), Just(u64::from(u32::MAX)), Just(0), any::<u64>()],
    ) {
        let mut bytes = SCHEDULER.to_vec();
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        use_up(&bytes);
    }

    #[test]
    fn parts_are_read_or_refused(length in 0..SCHEDULER.len()) {
        use_up(&SCHEDULER[..length]);
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Object::parse(&bytes).is_err());
        prop_assert!(find_embedded(&bytes).is_empty());
    }
}

#[test]
fn objects_are_found_wherever_they_are() {
    let whole = SCHEDULER;
    let program =
        [&b"\x7fELF\x02\x01 no object"[..], whole, b"\x7fELF", whole, &whole[..100]].concat();
    assert_eq!(find_embedded(&program), [whole, whole]);
    assert!(Object::parse(whole).is_ok());
}
